import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { Fault, notFound } from "../../../lib/contract/faults.ts";
import { presentAs } from "../../../lib/contract/present-as.ts";
import { MOST_LISTED } from "../../../lib/contract/schema.ts";
import { newUuid } from "../../../lib/ids.ts";
import { account } from "../../../middlewares/audit.ts";
import { insertNextVersion, newestVersion } from "../../../storage/writes.ts";
import { action, idempotent, type ServiceFactory } from "../../runtime.ts";
import { checkSteps, pointedIds, stepAt } from "./steps.ts";
import * as contract from "./templates.contract.ts";
import { type TemplateDoc, TemplateModel } from "./templates.model.ts";

/** Stores process templates and their versions (spec: Process template). */
export const templatesService: ServiceFactory = ({ store }) => {
  const templates = store.collection(TemplateModel);

  return {
    name: "templates",
    actions: {
      author: action(contract.authorTemplate, async (ctx) => {
        const { params, meta } = ctx;
        const steps = params.steps.map((step, i) => ({
          ...stepAt(i, step),
          completion_mode: step.completion_mode,
        }));
        checkSteps(steps);
        const { tenant_id } = meta.caller;
        const _id = newUuid(meta.idempotency_seed);
        const row = newTemplate({ _id, tenant_id, at: new Date(store.now()) }, params, steps);
        const doc = await insertNextVersion(templates, { slug: row.slug }, row);
        account(ctx, { slug: doc.slug, version_num: doc.version_num });
        return present(doc);
      }),

      list: action(contract.listTemplates, async ({ params, meta }) => {
        const { offset = 0, limit = MOST_LISTED } = params;
        const { tenant_id } = meta.caller;
        const options = { sort: { slug: 1, version_num: -1 }, projection: { slug: 1 } } as const;
        const versions = await templates.find(tenant_id, {}, options);
        const newest = versions.filter(({ slug }, i) => slug !== versions[i - 1]?.slug);
        const page = newest.slice(offset, offset + limit).map(({ _id }) => _id);
        meta.$responseHeaders = { "X-Total-Count": String(newest.length) };
        const docs = await templates.findEach(tenant_id, page, { projection: { steps: 0 } });
        return docs.map((doc) => presentAs(contract.TemplateSummary, doc));
      }),

      get: action(contract.getTemplate, async ({ params: { slug, version_num }, meta: { caller } }) => {
        const { tenant_id } = caller;
        const newest = await newestVersion(templates, tenant_id, { slug });
        if (!newest) throw notFound("process_template", slug);
        if (version_num === undefined || version_num === newest.version_num) return present(newest);
        const doc = await templates.findOne(tenant_id, { slug, version_num });
        if (!doc) throw noVersion(newest, version_num);
        return present(doc);
      }),

      steps_of: idempotent<{ tenant_id: string; template_id: string }>(async ({ params }) => {
        const doc = await templates.findOne(params.tenant_id, { _id: params.template_id });
        return doc?.steps ?? null;
      }),

      version_ids: idempotent<{ tenant_id: string; slug: string }>(
        async ({ params: { tenant_id, slug } }) => {
          const docs = await templates.find(tenant_id, { slug }, { projection: { _id: 1 } });
          return docs.map(({ _id }) => _id);
        },
      ),

      /** Returns the slugs of templates with a step whose reference pointer names this id. */
      pointing_at: idempotent<{ tenant_id: string; native_id: string }>(async ({ params }) => {
        const filter = { pointer_ids: params.native_id };
        const docs = await templates.find(params.tenant_id, filter, { projection: { slug: 1 }, limit: 20 });
        return [...new Set(docs.map(({ slug }) => slug))];
      }),
    },
  };
};

type TemplateFields = ParamsOf<typeof contract.authorTemplate>;

function newTemplate(
  { _id, tenant_id, at }: { _id: string; tenant_id: string; at: Date },
  { name, slug, description = null, goal_template = null }: TemplateFields,
  steps: contract.TemplateStep[],
): TemplateDoc {
  return {
    ...{ _id, tenant_id, slug, version_num: 0, name, description, goal_template },
    ...{ steps, step_count: steps.length, created_at: at },
    pointer_ids: pointedIds(steps),
  };
}

function noVersion({ slug, version_num: latest }: TemplateDoc, version_num: number): Fault {
  const message = `There is no version ${version_num} of the process template ${slug}. The latest is ${latest}.`;
  return new Fault("not_found", message, {
    resource_type: "process_template",
    resource_id: `${slug} version ${version_num}`,
  });
}

const present = (doc: TemplateDoc) => presentAs(contract.Template, doc);
