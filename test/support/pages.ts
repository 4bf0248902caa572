import { expect } from "@jest/globals";
import type { Api, Json } from "./http.ts";
import { ok } from "./tenancy.ts";

/** All items of a list under this name, read by the cursor to its end; with `total`, each page must say that many. */
export async function pagesOf(by: Api, path: string, name: string, total?: number): Promise<Json[]> {
  const rows: unknown[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page = ok(await by.get(`${path}${cursor && `&cursor=${cursor}`}`));
    rows.push(...page[name]);
    if (total !== undefined) expect(page.total).toBe(total);
    cursor = page.next_cursor;
  }
  return rows;
}
