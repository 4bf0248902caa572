import { agentAccess, type Owned } from "../../../lib/access/visibility.ts";
import type { SearchFind } from "../../../storage/search/entry.ts";
import { idempotent } from "../../runtime.ts";
import type { Parts } from "./parts.ts";
import { findRows, SPARE } from "./search.ts";

interface Asked {
  tenant_id: string;
  agent_id: string;
  query: string;
  limit: number;
  /** Whether to include the content. */
  content: boolean;
}

/** Recalls memories for a query on behalf of an agent, limited to what that agent may read. */
export function recallAction(parts: Parts) {
  return idempotent<Asked>(async (ctx) => {
    const { tenant_id, agent_id, query, limit, content } = ctx.params;
    const asked = { tenant_id, agent_ids: [agent_id] };
    const [agent] = await ctx.call<Owned[], unknown>("agents.get_many", asked);
    if (!agent) return { memories: [], degraded: [] };
    const find: SearchFind = {
      tenant_id,
      kind: "memory",
      query,
      access: agentAccess(agent),
      limit,
      spare: SPARE,
    };
    const { found, hits } = await findRows(parts, ctx, find);
    const memories = hits.slice(0, limit).map(({ row, score }) => ({
      id: row._id,
      title: row.title,
      score,
      ...(content && { content: row.content }),
    }));
    return { memories, degraded: found.degraded };
  });
}
