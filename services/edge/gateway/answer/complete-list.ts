import { pipeline } from "node:stream/promises";
import { readParams } from "../body/params.ts";
import type { Edge } from "../edge.ts";
import type { Exchange } from "../exchange.ts";
import { afterCall } from "../hooks/after-call.ts";
import { begin, type Envelope, send } from "./respond.ts";

/** Alias middleware for complete lists, which may be longer than one message between nodes. */
export function sendCompleteList(edge: Edge, exchange: Exchange): Promise<void> {
  return edge.hold(exchange, async () => {
    const params = await readParams(exchange, edge.deps.bodyReaders, edge.runtime.blobs);
    await sendInPages(exchange, params, edge.envelopeOf(exchange));
  });
}

/**
 * Sends a complete list page by page, as the caller reads it; at most one page is in memory. A failure of the first
 * page is answered as an error; later ones cut the answer off.
 */
async function sendInPages(
  exchange: Exchange,
  params: Record<string, unknown>,
  envelope: Envelope,
): Promise<void> {
  const pages = pagesOf(exchange, params);
  const first = await pages.next();
  if (first.done) return send(exchange.res, afterCall(exchange, first.value), envelope);
  begin(exchange.res, afterCall(exchange, []), envelope, null);
  await pipeline(listOf(first, pages), exchange.res);
}

interface Row {
  id: string;
}

async function* pagesOf(
  { ctx, op }: Exchange,
  params: Record<string, unknown>,
): AsyncGenerator<Row[], Row[]> {
  const limit = op.inPages as number;
  for (let offset = Number(params.offset ?? 0); ; ) {
    const page = await ctx.call<Row[]>(op.action, { ...params, offset, limit });
    offset += page.length;
    // A page also ends at the size limit of a message between nodes.
    const total = Number(ctx.meta.$responseHeaders?.["X-Total-Count"]);
    if (page.length === 0 || offset >= total) return page;
    yield page;
  }
}

/** Formats the text of a list. Rows that newer ones pushed to the next page appear once. */
async function* listOf(first: IteratorResult<Row[], Row[]>, pages: AsyncGenerator<Row[], Row[]>) {
  const given = new Set<string>();
  let page = first;
  yield "[";
  for (;;) {
    const fresh = page.value.filter(({ id }) => !given.has(id));
    const text = fresh.map((row) => JSON.stringify(row)).join();
    if (text) yield given.size ? `,${text}` : text;
    for (const { id } of fresh) given.add(id);
    if (page.done) break;
    page = await pages.next();
  }
  yield "]";
}
