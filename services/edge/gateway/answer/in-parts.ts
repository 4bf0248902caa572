import { setTimeout } from "node:timers/promises";
import { MESSAGE_BYTES } from "../../../../lib/broker/between-nodes.ts";
import type { TextPart } from "../../../../lib/contract/contract.ts";
import { requestShare } from "../../../../lib/queue/fair-queue.ts";
import { PAGE_BYTES } from "../../../../storage/commands.ts";
import { DEFAULT_MAX_BODY } from "../body/body.ts";
import { readParams } from "../call-action.ts";
import type { GatewayContext } from "../gateway-context.ts";
import type { HttpExchange } from "../http-exchange.ts";
import { Output } from "./output.ts";
import { afterCall, begin, type Envelope, sendLong, toFault } from "./respond.ts";

/**
 * Bytes of a page, whose first row may be as long as a body, with its values and its text. Two lists of a caller are read at
 * once, and leave room in its share for their reads: others wait, instead of being refused halfway.
 */
const LARGEST = 2 * DEFAULT_MAX_BODY + 10 * PAGE_BYTES;
const RETRY_MS = 1000;
const MOST_TRIES = 30;
/** Characters that are written at once. */
const CHUNK = 32_768;
/** Ids of given rows that are remembered, to leave out those that appear again. */
const REMEMBERED = 10_000;

type Params = Record<string, unknown>;

/**
 * Answers an operation with `inPages` or `continuedBy`, whose answer may be longer than one message between nodes: reads
 * it part by part, as the caller does; at most one is in memory. A failure of the first part is answered as an error;
 * later ones cut the answer off.
 */
export function sendInParts(edge: GatewayContext, exchange: HttpExchange): Promise<void> {
  return edge.hold(exchange, async () => {
    const { op, res } = exchange;
    const params = await readParams(exchange, edge.runtime);
    const output = new Output(res, requestShare(exchange), op.action);
    await (op.inPages ? sendList : sendText)(exchange, params, edge.envelopeOf(exchange), output);
  });
}

async function sendText(exchange: HttpExchange, params: Params, envelope: Envelope, output: Output) {
  const { ctx, op, req, res } = exchange;
  await output.reserve(MESSAGE_BYTES);
  const first = await ctx.call<TextPart>(op.action, params);
  begin(res, afterCall(exchange, ""), envelope, null);
  if (req.method === "HEAD") output.end();
  else await output.writeAll(textOf(exchange, params, first), MESSAGE_BYTES);
}

async function* textOf({ ctx, op }: HttpExchange, params: Params, first: TextPart) {
  let part = first;
  yield part.text;
  while (part.next !== null) {
    part = await ctx.call<TextPart>(op.continuedBy as string, { ...params, cursor: part.next });
    yield part.text;
  }
}

async function sendList(exchange: HttpExchange, params: Params, envelope: Envelope, output: Output) {
  const { res } = exchange;
  const pages = pagesOf(exchange, params);
  await output.reserve(LARGEST);
  const first = await pages.next();
  if (first.done) return sendLong(res, afterCall(exchange, first.value), envelope, output);
  begin(res, afterCall(exchange, []), envelope, null);
  await output.writeAll(listOf(first, pages), LARGEST);
}

interface Row {
  id: string;
}

async function* pagesOf({ ctx, op, res }: HttpExchange, params: Params): AsyncGenerator<Row[], Row[]> {
  let left = Number(
    params.limit ??
      (op.query?.limit as { default?: number } | undefined)?.default ??
      Number.POSITIVE_INFINITY,
  );
  for (let offset = Number(params.offset ?? 0); ; ) {
    const limit = Math.min(left, op.inPages as number);
    const read = () => ctx.call<Row[]>(op.action, { ...params, offset, limit });
    const page = res.headersSent ? await patiently(read, res) : await read();
    offset += page.length;
    left -= page.length;
    // Without a total, the page is all there is. A page also ends at a number of bytes.
    const total = Number(ctx.meta.$responseHeaders?.["X-Total-Count"] ?? 0);
    if (page.length === 0 || left <= 0 || offset >= total) return page;
    yield page;
  }
}

/** Repeats a read that is refused because others are in progress: an answer that has begun can only be cut off. */
async function patiently<T>(read: () => Promise<T>, res: HttpExchange["res"]): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await read();
    } catch (err) {
      const { type } = toFault(err);
      const isBusy = type === "rate_limited" || type === "service_unavailable";
      if (!isBusy || tries === MOST_TRIES || res.destroyed) throw err;
      await setTimeout(RETRY_MS);
    }
  }
}

/** Formats the text of a list. Rows that newer ones pushed to the next page appear once. */
async function* listOf(first: IteratorResult<Row[], Row[]>, pages: AsyncGenerator<Row[], Row[]>) {
  const seen = new Set<string>();
  let page = first;
  let text = "[";
  for (let separator = ""; ; page = await pages.next()) {
    for (const row of page.value) {
      if (seen.has(row.id)) continue;
      text += separator + JSON.stringify(row);
      separator = ",";
      if (text.length >= CHUNK) {
        yield text;
        text = "";
      }
      seen.add(row.id);
      if (seen.size > REMEMBERED) seen.delete(seen.values().next().value as string);
    }
    if (page.done) break;
  }
  yield `${text}]`;
}
