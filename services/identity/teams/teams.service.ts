import { newId } from "../../../lib/ids.ts";
import { unlessTaken } from "../../../storage/unless-taken.ts";
import { action, idempotent, internal, type ServiceFactory } from "../../runtime.ts";
import { createTeam, listTeams } from "./teams.contract.ts";
import { type TeamDoc, TeamModel } from "./teams.model.ts";

export const teamsService: ServiceFactory = ({ store }) => {
  const teams = store.collection(TeamModel);

  return {
    name: "teams",
    actions: {
      create: action(createTeam, async ({ params, meta }) => {
        const { tenant_id } = meta.caller;
        const { name, description = null } = params;
        const _id = newId("team", meta.idempotency_seed);
        const row = { _id, tenant_id, name, description, created_at: new Date(store.now()) };
        const message = () => `A team named "${name}" already exists. Choose another name.`;
        const unique = { field: "name", holder: { name }, message };
        return present(await unlessTaken(teams, tenant_id, unique, teams.insertOnce(row)));
      }),

      list: action(listTeams, async ({ params, meta }) => {
        const { rows, total } = await teams.page(meta.caller.tenant_id, {}, { name: 1 }, params);
        return { teams: rows.map(present), total };
      }),

      /** Returns all ids of a tenant's teams, which determine what an org admin may read. */
      ids: idempotent<{ tenant_id: string }>(async ({ params: { tenant_id } }) => {
        const docs = await teams.find(tenant_id, {}, { projection: { _id: 1 } });
        return docs.map(({ _id }) => _id);
      }),

      /** Returns the team's name, or null if the tenant has no such team. */
      name_of: internal<{ tenant_id: string; team_id: string }>(
        async ({ params: { tenant_id, team_id } }) => {
          const team = await teams.findOne(tenant_id, { _id: team_id });
          return team?.name ?? null;
        },
      ),
    },
  };
};

function present({ _id, tenant_id, name, description, created_at }: TeamDoc) {
  return { id: _id, tenant_id, name, description, created_at: created_at.toISOString() };
}
