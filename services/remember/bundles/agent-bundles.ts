import type { RequestContext } from "../../../lib/access/caller.ts";
import { afterPlace, fromCursor, pageOf } from "../../../lib/contract/cursor.ts";
import { notFound } from "../../../lib/contract/faults.ts";
import { summarise } from "../../../lib/text/quoted.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { requireOwnedAgent } from "../../identity/agents/find-agent.ts";
import type { CallOf } from "../../runtime.ts";
import { readableMemories } from "../memories/readable.ts";
import type { getBundleOfAgent, listBundlesOfAgent } from "./agent-bundles.contract.ts";
import { type BundleDoc, type BundleItem, present } from "./bundles.model.ts";

type Bundles = TenantCollection<BundleDoc>;

const QUERY = 280;

/** Returns a page of an agent's bundles for an admin or its owner. */
export async function listAgentBundles(bundles: Bundles, ctx: CallOf<typeof listBundlesOfAgent>) {
  const { agent_id, limit = 50, cursor } = ctx.params;
  const { tenant_id } = await requireOwnedAgent(ctx, agent_id);
  const behind = cursor !== undefined && {
    $and: [afterPlace(fromCursor(cursor, "created_at"), { by: "created_at", sign: -1 })],
  };
  const options = { sort: { created_at: -1, _id: -1 } as const, limit: limit + 1 };
  const projection = { query: 1, degraded_reasons: 1, created_at: 1, "items.rank": 1 } as const;
  const rows = await bundles.find(tenant_id, { agent_id, ...behind }, { ...options, projection });
  const { page, next_cursor } = pageOf({ rows }, limit, "created_at");
  return { bundles: page.map(listed), next_cursor };
}

/** Returns one of them, without what the caller cannot read. @throws Fault not_found */
export async function getAgentBundle(bundles: Bundles, ctx: CallOf<typeof getBundleOfAgent>) {
  const { agent_id, id } = ctx.params;
  const { tenant_id } = await requireOwnedAgent(ctx, agent_id);
  const doc = await bundles.findOne(tenant_id, { _id: id.toLowerCase(), agent_id });
  if (!doc) throw notFound("bundle", id);
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

function listed({ _id, query, items, degraded_reasons, created_at }: BundleDoc) {
  return {
    id: _id,
    query: query === null ? null : summarise(query, QUERY),
    item_count: items.length,
    degraded: degraded_reasons.length > 0,
    created_at: created_at.toISOString(),
  };
}
