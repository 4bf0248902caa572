import { invalidValue, requireFound } from "../../../lib/contract/faults.ts";
import { presentAs } from "../../../lib/contract/present-as.ts";
import { defined } from "../../../lib/defined.ts";
import { isUuid, newUuid } from "../../../lib/ids.ts";
import { unlessTaken } from "../../../storage/writes.ts";
import { action, idempotent, type ServiceFactory } from "../../runtime.ts";
import { createProject, listProjects, Project, updateProject } from "./projects.contract.ts";
import { type ProjectDoc, ProjectModel } from "./projects.model.ts";

const SUGGESTED = 20;

export const projectsService: ServiceFactory = ({ store }) => {
  const projects = store.collection(ProjectModel);
  const now = () => new Date(store.now());

  return {
    name: "projects",
    actions: {
      list: action(listProjects, async ({ params, meta }) => {
        const filter = params.status ? { status: params.status } : {};
        const sort = { folded_key: 1 } as const;
        const { rows, total } = await projects.page(meta.caller.tenant_id, filter, sort, params);
        return { projects: rows.map(present), total };
      }),

      create: action(createProject, async ({ params, meta }) => {
        const { tenant_id } = meta.caller;
        const { key, name = key, status = "active", target_date = null } = params;
        if (isUuid(key)) throw invalidValue("key", `key: expected a key that is not a UUID, got ${key}.`);
        const folded_key = key.toLowerCase();
        const [_id, at] = [newUuid(meta.idempotency_seed), now()];
        const row = { _id, tenant_id, key, folded_key, name, status, target_date };
        const insert = projects.insertOnce({ ...row, created_at: at, updated_at: at });
        const message = (holder: ProjectDoc | null) =>
          `A project with the key "${holder?.key ?? key}" already exists. Choose another key, or update that project.`;
        const unique = { field: "key", holder: { folded_key }, message };
        return present(await unlessTaken(projects, tenant_id, unique, insert));
      }),

      update: action(updateProject, async ({ params: { key, name, status, target_date }, meta }) => {
        const $set = { ...defined({ name, status, target_date }), updated_at: now() };
        const filter = { folded_key: key.toLowerCase(), key };
        const row = await projects.update(meta.caller.tenant_id, filter, { $set });
        return present(requireFound(row, "project", key));
      }),

      /** Returns the keys of archived projects. */
      archived: idempotent<{ tenant_id: string }>(async ({ params: { tenant_id } }) => {
        const options = { projection: { key: 1 } };
        return (await projects.find(tenant_id, { status: "archived" }, options)).map(({ key }) => key);
      }),

      /** Refuses an unknown project key. @throws Fault validation_error, field project_id. */
      require: idempotent<{ tenant_id: string; key: string }>(async ({ params: { tenant_id, key } }) => {
        const filter = { folded_key: key.toLowerCase(), key };
        if (await projects.exists(tenant_id, filter)) return;
        const sort = { folded_key: 1 } as const;
        const known = await projects.find(tenant_id, {}, { sort, limit: SUGGESTED, projection: { key: 1 } });
        throw invalidValue("project_id", unknownKey(key, known), { value: key });
      }),
    },
  };
};

function unknownKey(key: string, known: Pick<ProjectDoc, "key">[]): string {
  const wrong = isUuid(key) ? "expected a project's key, got an id" : `there is no project "${key}"`;
  if (known.length === 0) return `project_id: ${wrong}. Create the project first: there are none yet.`;
  const more = known.length === SUGGESTED ? ", …" : "";
  return `project_id: ${wrong}. Expected one of ${known.map((each) => each.key).join(", ")}${more}.`;
}

const present = (doc: ProjectDoc) => presentAs(Project, doc, { created_from_backfill: false });
