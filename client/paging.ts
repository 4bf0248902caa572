import type { CallOptions, Operation } from "./operation.ts";

type Params = Record<string, unknown>;
type Answer = { total?: number; next_cursor?: string | null } & Record<string, unknown>;

/** All items of a list, page after page, from where `params` begin. */
export async function* allPages(
  { items, by }: NonNullable<Operation["pages"]>,
  call: (params: Params, options?: CallOptions) => Promise<unknown>,
  params: Params,
  options?: CallOptions,
): AsyncGenerator<unknown, void> {
  let at: Params = {};
  for (let passed = Number(params.offset ?? 0); ; ) {
    const answer = (await call({ ...params, ...at }, options)) as Answer;
    const page = (items === "" ? answer : answer[items]) as unknown as unknown[];
    yield* page;
    passed += page.length;
    if (by === "cursor" ? !answer.next_cursor : page.length === 0 || passed >= (answer.total ?? Infinity))
      return;
    at = by === "cursor" ? { cursor: answer.next_cursor, offset: undefined } : { offset: passed };
  }
}
