import { expect, test } from "@jest/globals";
import { newIndexQueue, searching, writing } from "../../services/remember/search/search.service.ts";
import { LocalIndex } from "../../storage/search/local-index.ts";
import { entry, query, TENANT } from "../suites/search/samples.ts";
import { atEnd, ownFolder } from "../support/own-folder.ts";

const CALM = "tn_calm";
const ENTRIES = 500;
const SEARCHES = 100;
/** Searches that one caller may have waiting, and its tenant in progress. */
const TAKEN = 64 + 2;

const flood = { tenant_id: TENANT, caller: "flood" };
const calm = { tenant_id: CALM, caller: "calm" };

const onDeath = (err: Error) => {
  throw err;
};
const index = new LocalIndex({ dataDir: await ownFolder(), onDeath });
atEnd(() => index.close());
const entries = Array.from({ length: ENTRIES }, () => entry({ text: "a word that many share" }));
await index.put(TENANT, entries);
await index.put(CALM, [entry({ text: "a word" })]);
// Both are in memory from here on.
await Promise.all([index.legs(query("word")), index.legs(query("word", { tenant_id: CALM }))]);

test("a search goes next to any number of another tenant's; who asks too often is refused", async () => {
  const queue = newIndexQueue(index.searchesAtOnce);
  const ended: string[] = [];
  const search = async (name: string, share: typeof flood) => {
    const asked = query("word", { tenant_id: share.tenant_id });
    const outcome = await index.legs(asked, searching(queue, share)).then(
      ({ candidates }) => (candidates.length > 0 ? "found" : "nothing"),
      ({ type }) => type,
    );
    ended.push(`${name} ${outcome}`);
  };
  const all = Array.from({ length: SEARCHES }, () => search("flood", flood));
  all.push(search("calm", calm));
  await Promise.all(all);
  expect(ended.filter((each) => each === "flood rate_limited")).toHaveLength(SEARCHES - TAKEN);
  const answered = ended.filter((each) => each.endsWith(" found"));
  expect(answered).toHaveLength(TAKEN + 1);
  expect(answered.indexOf("calm found")).toBeLessThan(5);
});

test("a write goes next to any number of another tenant's entries", async () => {
  const queue = newIndexQueue(index.searchesAtOnce);
  const ended: string[] = [];
  const put = async (name: string, share: typeof flood, count: number) => {
    const entries = Array.from({ length: count }, () => entry({ text: "a word" }));
    // A slow machine may be too late for the last of them.
    await index.put(share.tenant_id, entries, writing(queue, share)).catch(() => {});
    ended.push(name);
  };
  const all = Array.from({ length: SEARCHES }, () => put("flood", flood, 50));
  all.push(put("calm", calm, 1));
  await Promise.all(all);
  expect(ended).toHaveLength(SEARCHES + 1);
  expect(ended.indexOf("calm")).toBeLessThan(5);
});
