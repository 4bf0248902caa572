import type { ServiceBroker } from "moleculer";
import type { AgentCaller, Call, RequestContext } from "../../../lib/access/caller.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { requireFound } from "../../../lib/contract/faults.ts";
import { presentAs } from "../../../lib/contract/present-as.ts";
import { defined } from "../../../lib/defined.ts";
import { newUuid } from "../../../lib/ids.ts";
import { summarise } from "../../../lib/text/quoted.ts";
import { DAY_MS } from "../../../lib/time.ts";
import { deletion } from "../../../mixins/due.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { WEIGHTS_VERSION } from "../../../storage/search/features.ts";
import { type EraseContent, type EraseMemories, eraseRows } from "../../erasers.ts";
import { requireOwnedAgent } from "../../identity/agents/find-agent.ts";
import { action, type CallOf, idempotent, type ServiceFactory } from "../../runtime.ts";
import type { BundleCandidate, BundleLeg, BundleLegAnswer } from "../memories/for-bundle.ts";
import { deletedMemories, readableMemories } from "../memories/readable.ts";
import { type Gathered, type Placed, renderBrief } from "./brief.ts";
import * as contract from "./bundles.contract.ts";
import {
  getBundleOfAgent,
  ListedBundle,
  listBundlesOfAgent,
  type assembleBundle as operation,
} from "./bundles.contract.ts";
import { type BundleDoc, type BundleItem, type BundleKind, BundleModel, present } from "./bundles.model.ts";

const SWEEP_MS = 10 * 60_000;

/** Gathers what an agent may need for a task, and keeps it unchanged (spec: Context bundle). */
export const bundlesService: ServiceFactory = ({ store, config: { BUNDLE_RETENTION_DAYS } }) => {
  const bundles = store.collection(BundleModel);
  const { now } = store;
  const reaper = new SharedLoop("sweep", newReaper(bundles, now), SWEEP_MS);

  const requireOwn = ({ params: { id }, meta }: Call<{ id: string }>) => {
    const { tenant_id, agent_id } = meta.caller as AgentCaller;
    return requireBundle(bundles, tenant_id, agent_id, id);
  };

  return {
    name: "bundles",
    mixins: [reaper.mixin],
    actions: {
      assemble: action(contract.assembleBundle, (ctx) =>
        assembleBundle(bundles, now, BUNDLE_RETENTION_DAYS, ctx),
      ),
      get: action(contract.getBundle, async (ctx) => present(await requireOwn(ctx))),
      brief: action(contract.getBundleBrief, async (ctx) => (await requireOwn(ctx)).rendered_brief),
      list_of_agent: action(listBundlesOfAgent, (ctx) => listAgentBundles(bundles, ctx)),
      get_of_agent: action(getBundleOfAgent, (ctx) => getAgentBundle(bundles, ctx)),

      /**
       * Whether the calling agent has this bundle, which is then kept for a handoff or an attempt on a step to name it.
       */
      hold: idempotent<{ id: string; by: "handoff" | "attempt" }>((ctx) => hold(bundles, now(), ctx)),

      /** Removes the bundles that hold erased memories, because a brief is never rewritten; returns how many. */
      erase_agent: idempotent<EraseContent>(async ({ params: { tenant_id, agent_id, dry_run } }) => ({
        bundles: dry_run
          ? await bundles.count(tenant_id, { agent_id })
          : await bundles.deleteMany(tenant_id, { agent_id }),
      })),
      erase_memories: idempotent<EraseMemories>(async ({ params }) => ({
        bundles: await eraseRows(bundles, params, { memory_ids: { $in: params.ids } }),
      })),
    },
  };
};

/** Returns a bundle of an agent. @throws Fault not_found */
async function requireBundle(bundles: Bundles, tenant_id: string, agent_id: string, id: string) {
  const doc = await bundles.findOne(tenant_id, { _id: id.toLowerCase(), agent_id });
  return requireFound(doc, "bundle", id);
}

/** Gathers a bundle for the calling agent, and keeps it. @throws Fault validation_error */
async function assembleBundle(
  bundles: Bundles,
  now: () => number,
  retentionDays: number,
  ctx: CallOf<typeof operation>,
) {
  const { tenant_id, agent_id } = ctx.meta.caller as AgentCaller;
  const { query } = ctx.params;
  const text = isSaid(query) ? query : null;
  for (;;) {
    const { items, degraded_reasons } = await gather(ctx);
    const at = now();
    const kept = await bundles.insertOnce({
      ...{ _id: newUuid(ctx.meta.idempotency_seed), tenant_id, agent_id, query: text },
      items: items.map(toItem),
      rendered_brief: renderBrief({ query: text, items, degraded_reasons }),
      ...{ degraded_reasons, weights_version: WEIGHTS_VERSION },
      memory_ids: items.filter(({ kind }) => kind === "memory").map(({ item_id }) => item_id),
      created_at: new Date(at),
      expires_at: new Date(at + retentionDays * DAY_MS),
    });
    if ((await deletedMemories(ctx, kept.memory_ids)).length === 0) return present(kept);
    // A memory was erased while the bundle was gathered.
    await bundles.delete(tenant_id, { _id: kept._id });
  }
}

function toItem({ kind, item_id, title, score, source, why, rank }: Placed): BundleItem {
  return { kind, item_id, title, score, source, why, rank };
}

/** How long a bundle is held for the request that will name it; a handoff's reference extends it by the same time. */
const HELD_MS = DAY_MS;

/** Keeps a bundle that is about to be named; returns whether the agent has it. */
async function hold(bundles: Bundles, now: number, { params, meta }: Call<{ id: string; by: string }>) {
  const { tenant_id, agent_id } = meta.caller as AgentCaller;
  const own = { _id: params.id.toLowerCase(), agent_id };
  const until = new Date(now + HELD_MS);
  // Runs, and so their attempts, are never removed.
  await (params.by === "attempt"
    ? bundles.updateMany(tenant_id, own, { $unset: { expires_at: 1 } })
    : bundles.updateMany(tenant_id, { ...own, expires_at: { $lt: until } }, { $set: { expires_at: until } }));
  return bundles.exists(tenant_id, own);
}

/** Removes expired bundles that no handoff names. The task returns whether there may be more. */
const newReaper = (rows: Bundles, now: () => number) =>
  deletion({ rows, by: "expires_at", now }, async (tenant_id, over, broker: Pick<ServiceBroker, "call">) => {
    const asked = { tenant_id, bundle_ids: over._id.$in };
    const named = new Set(await broker.call<string[], object>("handoffs.bundle_references", asked));
    const $set = { expires_at: new Date(now() + HELD_MS) };
    await rows.updateMany(tenant_id, { ...over, _id: { $in: [...named] } }, { $set });
    // Bundles held meanwhile stay.
    await rows.deleteMany(tenant_id, { ...over, _id: { $in: over._id.$in.filter((id) => !named.has(id)) } });
  });

type Bundles = TenantCollection<BundleDoc>;

const QUERY = 280;

/** Returns a page of an agent's bundles for an admin or its owner. */
async function listAgentBundles(bundles: Bundles, ctx: CallOf<typeof listBundlesOfAgent>) {
  const { agent_id, limit = 50, cursor } = ctx.params;
  const { tenant_id } = await requireOwnedAgent(ctx, agent_id);
  const projection = { query: 1, degraded_reasons: 1, created_at: 1, "items.rank": 1 } as const;
  const order = { by: "created_at", cursor, limit, projection } as const;
  const { page, next_cursor } = await bundles.pageAfter(tenant_id, { agent_id }, order);
  return { bundles: page.map(listed), next_cursor };
}

/** Returns one of them, without what the caller cannot read. @throws Fault not_found */
async function getAgentBundle(bundles: Bundles, ctx: CallOf<typeof getBundleOfAgent>) {
  const { agent_id, id } = ctx.params;
  const { tenant_id } = await requireOwnedAgent(ctx, agent_id);
  const doc = await requireBundle(bundles, tenant_id, agent_id, id);
  const readable = await readableItems(ctx, doc.items);
  const items = doc.items.map((item) => ({ ...item, title: readable.has(item.item_id) ? item.title : "" }));
  const rendered_brief = doc.items.every(({ item_id }) => readable.has(item_id)) ? doc.rendered_brief : null;
  return { ...present(doc), agent_id, items, rendered_brief };
}

/** Returns the ids of the items that the caller may read. Handoffs are the agent's own, as the bundle is. */
async function readableItems(ctx: RequestContext, items: readonly BundleItem[]): Promise<Set<string>> {
  const idsOf = (wanted: BundleItem["kind"]) =>
    items.filter(({ kind }) => kind === wanted).map(({ item_id }) => item_id);
  const [memories, outputs] = await Promise.all([
    readableMemories(ctx, idsOf("memory"), { brief: true }),
    ctx.call<string[], object>("outputs.visible", { output_ids: idsOf("output") }),
  ]);
  return new Set([...memories.keys(), ...outputs, ...idsOf("handoff")]);
}

const listed = (doc: BundleDoc) =>
  presentAs(ListedBundle, doc, {
    query: doc.query === null ? null : summarise(doc.query, QUERY),
    item_count: doc.items.length,
    degraded: doc.degraded_reasons.length > 0,
  });

type Query = ParamsOf<typeof operation>;

/** The legs of a bundle, with default limits (spec: Limits). */
const LEGS = [
  { kind: "memory", domain: "memories", cap: 12 },
  { kind: "output", domain: "outputs", cap: 5 },
  { kind: "handoff", domain: "handoffs", cap: 3 },
] as const;
/** Leaves out slower legs, because an agent waits for its bundle. In milliseconds. */
const PATIENCE = 5000;

/** Queries all legs concurrently, and merges their candidates. Reports a failed leg and continues. */
export async function gather(ctx: Call<Query>): Promise<Pick<Gathered, "items" | "degraded_reasons">> {
  const answers = await Promise.all(LEGS.map(async (leg) => ({ ...leg, ...(await ask(ctx, leg)) })));
  const candidates = answers.flatMap(({ kind, items }) => items.map((item) => ({ kind, item })));
  // Stable: with equal scores memories come first, and each kind keeps its order.
  candidates.sort((a, b) => b.item.score - a.item.score);
  return {
    items: candidates.map(({ kind, item }, i) => ({ ...item, kind, rank: i + 1, why: explain(item) })),
    degraded_reasons: answers.flatMap(({ domain, degraded }) =>
      degraded.map((reason) => `${domain}: ${reason}`),
    ),
  };
}

async function ask(ctx: Call<Query>, { kind, domain, cap }: (typeof LEGS)[number]): Promise<BundleLegAnswer> {
  const { caps, project_id, since, until } = ctx.params;
  const limit = caps?.[domain] ?? cap;
  // Handoffs belong to no project.
  const isOther = kind === "handoff" && Boolean(project_id);
  const isEmpty = since && until && Date.parse(since) > Date.parse(until);
  if (limit === 0 || isOther || isEmpty) return { items: [], degraded: [] };
  try {
    const params = legOf(kind, ctx.params, limit);
    return await ctx.call<BundleLegAnswer, BundleLeg>(`${domain}.for_bundle`, params, { timeout: PATIENCE });
  } catch (err) {
    ctx.broker.logger.warn({ err, domain }, "a bundle was created without one of its domains");
    return { items: [], degraded: ["the search failed"] };
  }
}

function legOf(
  kind: BundleKind,
  { query, project_id, since, until, memory_scope, as_of, known_at, include_possible }: Query,
  limit: number,
): BundleLeg {
  const scope = memory_scope === "ascending" ? undefined : memory_scope;
  const ofMemories = kind === "memory" ? { scope, as_of, known_at, include_possible } : {};
  const narrowed = defined({ project_id: project_id || undefined, since, until, ...ofMemories });
  return { query: isSaid(query) ? query : null, ...narrowed, limit };
}

function isSaid(query: string | null | undefined): query is string {
  return typeof query === "string" && /\S/.test(query);
}

const WHY: Record<string, string> = {
  "vector+bm25": "Matches the query in words and in meaning.",
  vector: "Matches the query in meaning.",
  bm25: "Matches the query in words.",
  context: "Adjacent to text that matches the query.",
  recent: "One of the latest items.",
};

function explain({ source }: BundleCandidate): string {
  return WHY[source] ?? `Found by ${source}.`;
}
