import { Fault } from "../../../lib/contract/faults.ts";
import { newId } from "../../../lib/ids.ts";
import { isDuplicateKey } from "../../../storage/collection.ts";
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
        try {
          const created_at = new Date(store.now());
          return present(await teams.insertOnce({ _id, tenant_id, name, description, created_at }));
        } catch (err) {
          if (!isDuplicateKey(err)) throw err;
          const holder = await teams.findOne(tenant_id, { name });
          const details = { field: "name", existing_resource_id: holder?._id ?? null };
          throw new Fault("conflict", `There is a team with the name "${name}" already.`, details);
        }
      }),

      list: action(listTeams, async ({ params: { offset = 0, limit = 50 }, meta }) => {
        const { tenant_id } = meta.caller;
        const [docs, total] = await Promise.all([
          teams.find(tenant_id, {}, { sort: { name: 1 }, skip: offset, limit }),
          teams.count(tenant_id, {}),
        ]);
        return { teams: docs.map(present), total };
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
