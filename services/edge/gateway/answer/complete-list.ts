import { MESSAGE_BYTES } from "../../../../lib/broker/message-size.ts";
import { readParams } from "../body/params.ts";
import type { Edge } from "../edge.ts";
import { type Exchange, requestShare } from "../exchange.ts";
import { afterCall } from "../hooks/after-call.ts";
import { Output } from "./output.ts";
import { begin, type Envelope, sendLong } from "./respond.ts";

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
  const output = new Output(exchange.res, requestShare(exchange), exchange.op.action);
  const pages = pagesOf(exchange, params);
  await output.reserve(MESSAGE_BYTES);
  const first = await pages.next();
  if (first.done) return sendLong(exchange.res, afterCall(exchange, first.value), envelope, output);
  begin(exchange.res, afterCall(exchange, []), envelope, null);
  await output.writeAll(listOf(first, pages), MESSAGE_BYTES);
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
