import type { CallOptions, Operation } from "./operation.ts";

type Params = Record<string, unknown>;
type Answer = { total?: number; next?: string | null; next_cursor?: string | null } & Record<string, unknown>;

/** Yields all items of a list, page by page, starting at `params`. */
export async function* allPages(
  { items, by }: NonNullable<Operation["pages"]>,
  call: (params: Params, options?: CallOptions) => Promise<unknown>,
  params: Params,
  options?: CallOptions,
): AsyncGenerator<unknown, void> {
  const seen = new Set<unknown>();
  let at: Params = {};
  for (let passed = Number(params.offset ?? 0); ; ) {
    const answer = (await call({ ...params, ...at }, options)) as Answer;
    const page = (items === "" ? answer : answer[items]) as unknown as unknown[];
    // Items added meanwhile shift the offsets, so an item may appear twice.
    const fresh = by === "offset" ? page.filter((item) => isFirst(item, seen)) : page;
    yield* fresh;
    passed += page.length;
    const cursor = answer.next ?? answer.next_cursor;
    if (by === "cursor" ? !cursor : fresh.length === 0 || passed >= (answer.total ?? Infinity)) return;
    at = by === "cursor" ? { cursor, offset: undefined } : { offset: passed };
  }
}

function isFirst(item: unknown, seen: Set<unknown>): boolean {
  const id = (item as { id?: unknown }).id ?? item;
  if (seen.has(id)) return false;
  seen.add(id);
  return true;
}
