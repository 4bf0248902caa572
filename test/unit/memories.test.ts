import { beforeAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { canonicalTags, tagsOfQuery } from "../../lib/contract/tags.ts";
import { newSettlement } from "../../services/remember/memories/cites.ts";
import { type CiteDoc, CiteModel, type MemoryDoc } from "../../services/remember/memories/memories.model.ts";
import { newFinishing, newPurge } from "../../services/remember/memories/memories.service.ts";
import { Memories } from "../../services/remember/memories/memories.ts";
import { type NewMemory, newMemory } from "../../services/remember/memories/new-memory.ts";
import { supersede } from "../../services/remember/memories/supersede.ts";
import type { TenantCollection } from "../../storage/collection.ts";
import type { Store } from "../../storage/connection.ts";
import { ownStore } from "../support/own-store.ts";

describe("tags", () => {
  test.each([
    [["Billing"], ["billing"]],
    [["  Q3 \t Review  "], ["q3-review"]],
    [["a_-_ b", "A B"], ["a-b"]],
    [["_x_", "--"], ["x"]],
    [["Caf\u00e9", "cafe\u0301", "CAFE\u0301"], ["caf\u00e9"]],
    [["\u0130"], ["i\u0307"]],
    [
      ["b", "a", "b"],
      ["b", "a"],
    ],
  ])("%j fold to %j", (given, expected) => expect(canonicalTags(given)).toEqual(expected));

  test("folding is idempotent and complete", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme" })), (given) => {
        const tags = canonicalTags(given);
        expect(canonicalTags(tags)).toEqual(tags);
        for (const tag of tags) expect(tag).not.toMatch(/[\s_]|--|^-|-$|^$/);
      }),
    );
  });

  test("in a query are repeated, comma-separated or both", () =>
    expect(tagsOfQuery(["A,b c", "", "d", "a"])).toEqual(["a", "b-c", "a,b-c", "d"]));
});

describe("sweeps", () => {
  const DAY = 86_400_000;
  let store: Store;
  let memories: Memories;
  let clock: Date;
  const told: string[] = [];

  beforeAll(async () => {
    store = await ownStore();
    memories = withCites(store.collection(CiteModel));
    await store.ready();
  });

  const withCites = (cites: TenantCollection<CiteDoc>) => {
    const collection: Store["collection"] = (model) =>
      model.name === CiteModel.name ? (cites as never) : store.collection(model);
    return new Memories({ collection, now: () => clock.getTime() }, 30, console, () => {});
  };
  const calls = {
    call: async (action: string, { entries }: { entries: { id: string }[] }) => {
      if (action === "search.put") told.push(...entries.map(({ id }) => id));
    },
  } as never;
  const start = new Date("2026-01-01T00:00:00Z");
  const onDay = (days: number) => new Date(start.getTime() + days * DAY);

  async function row(_id: string, given: Partial<NewMemory>, more: Partial<MemoryDoc> = {}) {
    const full = { title: "t", content: "c", type: "semantic", scope: "agent", ...given } as NewMemory;
    const owner = { tenant_id: "tn_1", agent_id: "ag_1", user_id: null, team_id: null };
    const doc = newMemory(full, { _id, ...owner, subjects: [], citations: [], at: start }, memories.windowMs);
    await memories.rows.insert({ ...doc, ...more });
  }
  const statuses = async () =>
    Object.fromEntries(
      (await memories.rows.find("tn_1", {}, { bounded: "a few" })).map(({ _id, status }) => [_id, status]),
    );

  test("what was forgotten or has expired goes when its window has passed, everywhere first", async () => {
    await row("kept", {});
    await row("forgotten", {}, { status: "forgotten", purge_at: onDay(30) });
    await row("expired", { expires_at: onDay(10).toISOString() });
    await row("made expired", { expires_at: onDay(-400).toISOString() });
    const erased: string[] = [];
    const call = async (action: string, { ids }: { ids: string[] }) => {
      expect(Object.keys(await statuses())).toEqual(expect.arrayContaining(ids));
      if (action === "search.drop") erased.push(...ids);
      return {};
    };
    const left: string[][] = [];
    for (const days of [29, 30, 39.9, 40]) {
      clock = onDay(days);
      expect(await newPurge(memories)({ call } as never)).toBe(false);
      left.push(Object.keys(await statuses()).sort());
    }
    expect(left).toEqual([
      ["expired", "forgotten", "kept", "made expired"],
      ["expired", "kept"],
      ["expired", "kept"],
      ["kept"],
    ]);
    expect(erased).toEqual(["forgotten", "made expired", "expired"]);
  });

  test("of two nodes that count citations at once none writes fewer than the other has counted", async () => {
    const { cites } = memories;
    await row("cited", {});
    clock = onDay(1);
    const cite = (cited_by: string): Promise<CiteDoc> =>
      cites.insert({
        ...{ _id: `cited ${cited_by}`, tenant_id: "tn_1", memory_id: "cited", cited_by, owner_id: "ag_1" },
        ...{ own: false, originating_query_id: null, at: clock, announced: false, due_at: clock },
      });
    const counted = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const countSlowly = async (...given: Parameters<typeof cites.count>) => {
      const count = await cites.count(...given);
      counted.resolve();
      await goOn.promise;
      return count;
    };
    const slow = new Proxy(cites, {
      get(target, name) {
        if (name === "count") return countSlowly;
        const value = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    await cite("ag_2");
    const first = newSettlement(withCites(slow))(calls);
    await counted.promise;
    await cite("ag_3");
    await newSettlement(memories)(calls);
    expect(await cites.exists("tn_1", { announced: false })).toBe(false);
    goOn.resolve();
    await first;
    expect(await memories.rows.findOne("tn_1", { _id: "cited" })).toMatchObject({ rank_cites: 2 });
    await memories.rows.delete("tn_1", { _id: "cited" });
  });

  test("an interrupted replacement is finished, or withdrawn if another came first", async () => {
    await row("old", {});
    await row("new", { supersedes_id: "old" });
    await row("half-done", {}, { status: "superseded", superseded_by: "its-winner", invalid_at: start });
    await row("its-winner", { supersedes_id: "half-done" });
    await row("too-late", { supersedes_id: "half-done" });
    clock = new Date(start.getTime() + 4_000);
    await newFinishing(memories)(calls);
    expect((await statuses()).new).toBe("pending");
    clock = onDay(1);
    await newFinishing(memories)(calls);
    const found = await statuses();
    expect(found).toMatchObject({
      ...{ old: "superseded", new: "active", "half-done": "superseded", "its-winner": "active" },
    });
    expect(found).not.toHaveProperty("too-late");
    expect((await memories.rows.findOne("tn_1", { _id: "old" }))?.superseded_by).toBe("new");
    expect(told).toEqual(expect.arrayContaining(["old", "new", "its-winner"]));
  });

  test("a repeated replacement is answered the same under its key only", async () => {
    await row("loser", {});
    await row("winner", {});
    const caller = { kind: "agent", tenant_id: "tn_1", agent_id: "ag_1", team_id: null };
    const ask = (idempotency_seed?: string) =>
      supersede(memories, {
        ...(calls as object),
        meta: { caller, idempotency_seed },
        params: { id: "loser", superseded_by_id: "winner" },
      } as never);
    const first = await ask("seed");
    expect(first).toMatchObject({ memory_id: "loser", superseded_by: "winner" });
    expect(await ask("seed")).toEqual(first);
    await expect(ask("other")).rejects.toMatchObject({ type: "conflict" });
    await expect(ask()).rejects.toMatchObject({ type: "conflict" });
  });
});
