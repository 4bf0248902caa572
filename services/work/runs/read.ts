import type { Call } from "../../../lib/access/caller.ts";
import { Fault } from "../../../lib/contract/faults.ts";
import { MOST_LISTED } from "../../../lib/contract/schema.ts";
import { containing } from "../../../lib/text/containing.ts";
import type { CallOf } from "../../runtime.ts";
import { attemptsOn } from "./facts.ts";
import { buildActions, buildHistory, buildRetrospective } from "./history.ts";
import { findPerson } from "./participants.ts";
import { computePosition, standing } from "./position.ts";
import { presentRun, stepAt } from "./present.ts";
import type { RunStore } from "./run-store.ts";
import type { listRuns as operation, runHistory } from "./runs.contract.ts";
import { renderStatusDocument } from "./status-document.ts";

type Asked = Call<{ run_id: string }>;

export async function listRuns(store: RunStore, ctx: CallOf<typeof operation>) {
  const { params, meta } = ctx;
  const { status, project_id, template_slug, search, offset = 0, limit = MOST_LISTED } = params;
  const { tenant_id } = meta.caller;
  const versions =
    template_slug &&
    (await ctx.call<string[], object>("templates.version_ids", { tenant_id, slug: template_slug }));
  const filter = {
    ...(status && { status }),
    ...(project_id !== undefined && { project_id: project_id || null }),
    ...(versions && { template_id: { $in: versions } }),
    ...(search && { goal: containing(search) }),
  };
  const [page, total] = await Promise.all([
    store.list(tenant_id, filter, { skip: offset, limit }),
    store.runs.count(tenant_id, filter),
  ]);
  meta.$responseHeaders = { "X-Total-Count": String(total) };
  return page.map(presentRun);
}

export async function getRun(store: RunStore, ctx: Asked) {
  const { run, facts } = await load(store, ctx);
  const steps = run.steps.map((step, i) => ({ ...stepAt(run, i), attempts: attemptsOn(step, facts) }));
  return { ...presentRun(run), steps };
}

export async function getPosition(store: RunStore, ctx: Asked) {
  const [{ run, facts }, person] = await Promise.all([load(store, ctx), findPerson(ctx)]);
  return { run: presentRun(run), ...computePosition(standing(run, facts, store.now()), person) };
}

export async function getRetrospective(store: RunStore, ctx: Asked) {
  const { run, facts } = await load(store, ctx);
  if (run.status === "closed") return { items: buildRetrospective(run, facts) };
  const message = "The retrospective is available only after the run is closed. Close it first.";
  throw new Fault("conflict", message, { existing_resource_id: run._id });
}

export async function getHistory(store: RunStore, { params, meta }: CallOf<typeof runHistory>) {
  const { run_id, include } = params;
  const { tenant_id } = meta.caller;
  const run = await store.get(tenant_id, run_id);
  const [facts, artifacts] = await Promise.all([
    store.factsOf(run),
    store.artifacts.find(
      tenant_id,
      { run_id },
      { sort: { created_at: 1, _id: 1 }, bounded: "MOST_ARTIFACTS of a run" },
    ),
  ]);
  const items = buildHistory(run, facts, artifacts);
  return include === "actions" ? { items, actions: buildActions(run, facts, artifacts) } : { items };
}

export async function getStatusDocument(store: RunStore, ctx: Asked) {
  const { run, facts } = await load(store, ctx);
  return renderStatusDocument(run, facts);
}

async function load(store: RunStore, { params, meta }: Asked) {
  const run = await store.get(meta.caller.tenant_id, params.run_id);
  return { run, facts: await store.factsOf(run) };
}
