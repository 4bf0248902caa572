import { requireFound } from "../../../lib/contract/faults.ts";
import { presentAs } from "../../../lib/contract/present-as.ts";
import { newId } from "../../../lib/ids.ts";
import { unlessTaken } from "../../../storage/writes.ts";
import { action, idempotent, internal, type ServiceFactory } from "../../runtime.ts";
import { createTeam, deleteTeam, listTeams, Team } from "./teams.contract.ts";
import { type TeamDoc, TeamModel } from "./teams.model.ts";

const PRESENT = { deleted_at: { $exists: false } };

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
        const { rows, total } = await teams.page(meta.caller.tenant_id, PRESENT, { name: 1 }, params);
        return { teams: rows.map(present), total };
      }),

      delete: action(deleteTeam, async (ctx) => {
        const { tenant_id } = ctx.meta.caller;
        const { team_id } = ctx.params;
        const which = { _id: team_id, ...PRESENT };
        requireFound(await teams.findOne(tenant_id, which), "team", team_id);
        const leave = () => ctx.call<number, object>("agents.leave_team", { tenant_id, team_id });
        // First, so that a deletion that was interrupted can be repeated.
        const left = await leave();
        const $set = { name: team_id, description: null, deleted_at: new Date(store.now()) };
        requireFound(await teams.update(tenant_id, which, { $set }), "team", team_id);
        // Those that joined in between.
        return { id: team_id, agents_removed: left + (await leave()) };
      }),

      /** Returns all ids of a tenant's teams, deleted ones too, which determine what an org admin may read. */
      ids: idempotent<{ tenant_id: string }>(async ({ params: { tenant_id } }) => {
        const docs = await teams.find(tenant_id, {}, { projection: { _id: 1 } });
        return docs.map(({ _id }) => _id);
      }),

      /** Returns the team's name, or null if the tenant has no such team. */
      name_of: internal<{ tenant_id: string; team_id: string }>(
        async ({ params: { tenant_id, team_id } }) => {
          const team = await teams.findOne(tenant_id, { _id: team_id, ...PRESENT });
          return team?.name ?? null;
        },
      ),
    },
  };
};

const present = (doc: TeamDoc) => presentAs(Team, doc);
