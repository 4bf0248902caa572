import { pipeline } from "node:stream/promises";
import type { Exchange } from "../exchange.ts";
import { toAnswer } from "../pipeline.ts";
import { begin, type Envelope, send } from "./respond.ts";

/** Whether all of a list is asked for that may be longer than one message between nodes. */
export function isAskedWhole({ op, query }: Exchange): boolean {
  return op.inPages !== undefined && query.limit === undefined;
}

/**
 * Sends all of a list, each page of it as soon as it is there and the caller takes it: no more than one is held. What
 * goes wrong with the first is answered as an error; after that it cuts the answer off.
 */
export async function sendInPages(
  exchange: Exchange,
  params: Record<string, unknown>,
  envelope: Envelope,
): Promise<void> {
  const pages = pagesOf(exchange, params);
  const first = await pages.next();
  if (first.done) return send(exchange.res, toAnswer(exchange, first.value), envelope);
  begin(exchange.res, toAnswer(exchange, []), envelope, null);
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
    // A page also ends where a message between nodes is full.
    const total = Number(ctx.meta.$responseHeaders?.["X-Total-Count"]);
    if (page.length === 0 || offset >= total) return page;
    yield page;
  }
}

/** The text of a list. Rows that newer ones have pushed on to the next page stand in it once. */
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
