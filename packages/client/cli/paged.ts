import type { CallOptions, PagedCall } from "../operation.ts";
import { type Context, count } from "./command.ts";

/** The option of every list. */
export const LIMIT = { limit: { value: "N", means: "maximum number of results; default: 50" } };

const PAGE = 200;

/** Returns the first items of a list, up to `--limit`, page by page. */
export async function takeFirst<Params extends object, Result, Item>(
  context: Context,
  call: PagedCall<Params, Result, Item>,
  params: Params,
): Promise<Item[]> {
  const most = count(context, "limit", 50);
  const all = call.all as (params: object, options: CallOptions) => AsyncGenerator<Item, void>;
  const items: Item[] = [];
  const options = { signal: context.signal };
  for await (const item of all({ ...params, limit: Math.min(most, PAGE) }, options)) {
    items.push(item);
    if (items.length === most) break;
  }
  return items;
}
