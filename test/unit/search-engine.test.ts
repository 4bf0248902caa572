import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { SearchEngine } from "../../storage/search/engine.ts";
import type { SearchEntry } from "../../storage/search/entry.ts";
import type { LegsQuery } from "../../storage/search/protocol.ts";
import { entry, query, TENANT } from "../suites/search/samples.ts";
import { ownFolder } from "../support/own-folder.ts";

/** More than one page, and no multiple of one. */
const TURNS = 450;

let file: string;
let engine: SearchEngine;

beforeEach(async () => {
  file = join(await ownFolder(), "search.db");
  engine = new SearchEngine(file);
});
afterEach(() => engine.close());

function reopen(): void {
  engine.close();
  engine = new SearchEngine(file);
}

const put = (...entries: SearchEntry[]) => engine.put(TENANT, entries);

const find = (asked: LegsQuery, partial = false) => engine.find(asked, partial);

function load(): void {
  for (let slices = 0; !engine.load(TENANT, "memory"); slices++)
    if (slices > 1000) throw new Error("it is never loaded");
}

/** The turns of one conversation. */
function turns(): SearchEntry[] {
  return Array.from({ length: TURNS }, (_, i) =>
    entry({ text: `turn number${i}x`, thread: "conversation:1" }),
  );
}

test("a tenant is found only when all of it is loaded, unless less will do", () => {
  put(...turns());
  reopen();
  expect(find(query("number7x"))).toBeNull();
  expect(find(query("number7x"), true)).toMatchObject({ isPartial: true, candidates: [] });
  load();
  expect(find(query("turn"))).toMatchObject({ isPartial: false, visible: TURNS });
});

test("threads are in order, whatever the order of their ids", () => {
  const all = turns().map((each, i) => ({ ...each, id: `id-${(i * 7919) % 1000}` }));
  put(...all);
  reopen();
  load();
  expect(find(query("number200x"))?.candidates.find(({ has }) => has)?.id).toBe(all[200]?.id);
  const beside = find(query("number199x number201x"))?.candidates.find(({ id }) => id === all[200]?.id);
  expect([beside?.before[0]?.has, beside?.after[0]?.has]).toEqual([1, 2]);
});

test("what changes while it is loaded is as it was put last", () => {
  const [changed, removed, dropped, ...others] = turns() as [SearchEntry, SearchEntry, SearchEntry];
  put(changed, removed, dropped, ...others);
  reopen();
  expect(find(query("turn"))).toBeNull();
  put({ ...changed, version: 2, text: "okapi" }, { ...removed, version: 2, removed: true });
  engine.drop(TENANT, "memory", [dropped.id]);
  put(entry({ id: "id-999999", text: "numbat" }));
  load();
  expect(find(query("okapi"))?.candidates.filter(({ has }) => has)).toMatchObject([{ id: changed.id }]);
  expect(find(query("numbat"))?.candidates).toMatchObject([{ id: "id-999999" }]);
  expect(find(query("turn"))).toMatchObject({ visible: TURNS - 1 });
  expect(find(query("number0x number1x number2x"))?.corpus.frequencies).toEqual([0, 0, 0]);
});

test("what nobody asks for is let go of, and loaded again", () => {
  put(...turns());
  load();
  expect(find(query("turn"))).not.toBeNull();
  engine.tidy(performance.now() + 3_600_000);
  expect(find(query("turn"))).toBeNull();
  load();
  expect(find(query("turn"))?.visible).toBe(TURNS);
});
