import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { compileFilter, EventScope } from "../../lib/filter/filter.ts";
import { compileGlob } from "../../lib/filter/glob.ts";
import { MatchIndex } from "../../services/sense/interests/match-index.ts";
import type { Subscription } from "../../services/sense/interests/receiver.ts";
import { words } from "../support/words.ts";

let made = 0;
const interest = (glob: string, filter?: string): Subscription => {
  const base = { id: `int_${made++}`, kind: "interest" as const, agent_id: "ag_1", glob, priority: 0 };
  return filter === undefined ? base : { ...base, filter };
};
const ids = (subscriptions: Subscription[]) => subscriptions.map(({ id }) => id).sort();
const matchedGlobs = async (index: MatchIndex, type: string) =>
  (await index.match({ type })).matched.map(({ glob }) => glob).sort();

describe("events that the service publishes itself", () => {
  const index = new MatchIndex(
    [
      ...["*", "s*", "service*", "service.*", "service.run.*", "service.run.started", "*.started"],
      ...["memory.*", "m*", "memory.cited", "memory*"],
    ].map((glob) => interest(glob)),
  );
  test.each([
    ["service.run.started", ["service.*", "service.run.*", "service.run.started"]],
    ["memory.cited", ["memory.*", "memory.cited"]],
    ["memory.other", ["*", "m*", "memory*", "memory.*"]],
    ["services.started", ["*", "*.started", "s*", "service*"]],
  ])("%s", async (type, globs) => expect(await matchedGlobs(index, type)).toEqual(globs));
});

test("a filter is asked once per event, however many subscriptions and globs have it", async () => {
  let reads = 0;
  const data = {
    get n() {
      reads++;
      return 1;
    },
  };
  const index = new MatchIndex(
    ["*", "com.*", "*.x", "com.x"].flatMap((glob) =>
      Array.from({ length: 50 }, () => interest(glob, "data.n == 1.0")),
    ),
  );
  expect((await index.match({ type: "com.x", data })).matched).toHaveLength(200);
  expect(reads).toBe(1);
  expect((await index.match({ type: "com.x", data })).matched).toHaveLength(200);
  expect(reads).toBe(2);
  await index.match({ type: "org", data: {} });
  expect((await index.match({ type: "com.x", data: { n: 2 } })).matched).toEqual([]);
});

test("distinct filters that fail are counted and do not match", async () => {
  const index = new MatchIndex([
    interest("*", "data.missing == 1"),
    interest("a", "data.missing == 1"),
    interest("*", "data.n + '1' == 2"),
    interest("*", "does not compile"),
    interest("*", "data.n == 1"),
  ]);
  const { matched, errors } = await index.match({ type: "a", data: { n: 1 } });
  expect(matched.map(({ filter }) => filter)).toEqual(["data.n == 1"]);
  expect(errors).toBe(3);
});

describe("a filter that requires a value is looked up by it", () => {
  const number = { n: 7 };
  const cases: [string, unknown, boolean][] = [
    ["data.n == 7", number, true],
    ["data.n == 7", { n: 7.5 }, false],
    ["data.n == 0", { n: -0 }, true],
    ["data.n == -7 && true", { n: -7 }, true],
    ["data.n == 7 && data.ok == true", { n: 7, ok: true }, true],
    ["data.n == 7 && data.ok == true", { n: 7, ok: false }, false],
    ["data.n == 7 || true", { n: 8 }, true],
    ["data.n == 7 && data.ok || true", { n: 8 }, true],
    ["data.n == 7 ? true : true", { n: 8 }, true],
    ["data.n == 7 == false", { n: 8 }, true],
    ["data.a.b == 'x'", { a: { b: "x" } }, true],
    ['data.a.b == "x"', { a: "x" }, false],
    ["data.s == '7'", { s: 7 }, false],
    ["data.s == 'a\\x62'", { s: "ab" }, true],
    ["data.s == ''", { s: "" }, true],
    ["event.type == 'com.x'", {}, true],
    ["event.subject == 'y'", {}, false],
    ["data.ok == false", { ok: false }, true],
    ["data.constructor == 'x'", {}, false],
    ["data.n == 7", null, false],
  ];
  test.each(cases)("%s, %j", async (filter, data, isMatch) => {
    const event = { type: "com.x", data };
    expect((await new MatchIndex([interest("com.*", filter)]).match(event)).matched.length > 0).toBe(isMatch);
    const outcome = compileFilter(filter).matches(new EventScope(event));
    expect(outcome === "match").toBe(isMatch);
  });

  test("as if it were evaluated, whatever the event has there", async () => {
    const value = fc.constantFrom<unknown>(
      ...[0, -0, 1, -1, 1.5, 1e21, 123456789012345, "", "1", "a", "true", "s1", true, false, null, [], {}],
      undefined,
    );
    const literal = fc.constantFrom(...words`0 -0 1 -1 123456789012345 '' "1" 'a' 's1' true`);
    const join = fc.constantFrom(" && ", " || ");
    await fc.assert(
      fc.asyncProperty(value, value, literal, literal, join, async (v, w, a, b, by) => {
        const filter = `data.v == ${a}${by}data.w == ${b}`;
        const data = { ...(v !== undefined && { v }), ...(w !== undefined && { w }) };
        const event = { type: "com.x", data };
        const { matched } = await new MatchIndex([interest("com.*", filter)]).match(event);
        expect(matched.length === 1).toBe(compileFilter(filter).matches(new EventScope(event)) === "match");
      }),
      { numRuns: 200 },
    );
  });

  test("and only those with the value are evaluated, until they are removed", async () => {
    const all = Array.from({ length: 1_000 }, (_, n) => interest("com.x", `data.n == ${n}`));
    const index = new MatchIndex(all);
    let reads = 0;
    const data = {
      get n() {
        reads++;
        return 500;
      },
    };
    const ids = async () => (await index.match({ type: "com.x", data })).matched.map(({ id }) => id);
    expect(await ids()).toEqual([all[500]?.id]);
    expect(reads).toBe(2);
    index.remove(all[500]?.id as string);
    expect(await ids()).toEqual([]);
    expect((await index.match({ type: "com.x", data: {} })).errors).toBe(999);
  });
});

test("adding the same id replaces, removing forgets", async () => {
  const first = interest("com.*", "data.n == 1");
  const index = new MatchIndex([first]);
  index.add({ ...first, priority: 5 });
  expect((await index.match({ type: "com.x", data: { n: 1 } })).matched).toEqual([{ ...first, priority: 5 }]);
  index.add({ ...first, glob: "org.*" });
  expect(index.size).toBe(1);
  expect((await index.match({ type: "com.x", data: { n: 1 } })).matched).toEqual([]);
  expect((await index.match({ type: "org.x", data: { n: 1 } })).matched).toHaveLength(1);
  expect(index.remove(first.id)).toBe(true);
  expect(index.remove(first.id)).toBe(false);
  expect(index.size).toBe(0);
  expect((await index.match({ type: "org.x", data: { n: 1 } })).matched).toEqual([]);
});

test("an invalid glob is refused and leaves the index as it was", async () => {
  const first = interest("com.*");
  const index = new MatchIndex([first]);
  expect(() => index.add(interest("com.[", "data.n == 1"))).toThrow("not closed");
  expect(() => index.add({ ...first, glob: "" })).toThrow("cannot be empty");
  expect(index.size).toBe(1);
  expect(await matchedGlobs(index, "com.x")).toEqual(["com.*"]);
});

const part = fc.constantFrom(...words`com org service memory cited a b * ? [ab] *a b* **`);
const globs = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("."));
const types = fc
  .array(fc.constantFrom("com", "org", "service", "memory", "cited", "a", "b", "ab"), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => parts.join("."));
const filters = fc.constantFrom(undefined, "data.n == 1", "data.n > 0", "data.nope == 1", "n in [0, 2]");
const subscriptions = fc
  .array(fc.tuple(globs, filters), { maxLength: 25 })
  .map((all) => all.map(([glob, filter]) => interest(glob, filter)));
const events = fc.record({ type: types, data: fc.record({ n: fc.nat({ max: 2 }) }) });

function scan(all: Iterable<Subscription>, event: { type: string; data: object }): string[] {
  const scope = new EventScope(event);
  const reserved = event.type.startsWith("service.")
    ? "service."
    : event.type === "memory.cited"
      ? "memory."
      : "";
  return ids(
    [...all].filter(
      ({ glob, filter }) =>
        glob.startsWith(reserved) &&
        compileGlob(glob).test(event.type) &&
        (filter === undefined || compileFilter(filter).matches(scope) === "match"),
    ),
  );
}

test("property: finds what a scan of all subscriptions finds, also after changes", async () =>
  fc.assert(
    fc.asyncProperty(
      subscriptions,
      subscriptions,
      fc.array(fc.nat()),
      fc.array(events, { minLength: 1, maxLength: 5 }),
      async (start, later, removals, all) => {
        const live = new Map(start.map((subscription) => [subscription.id, subscription]));
        const index = new MatchIndex(start);
        for (const subscription of later) {
          live.set(subscription.id, subscription);
          index.add(subscription);
        }
        const known = [...live.keys()];
        for (const n of removals) {
          const id = known[n % known.length] ?? "none";
          expect(index.remove(id)).toBe(live.delete(id));
        }
        expect(index.size).toBe(live.size);
        for (const event of all)
          expect(ids((await index.match(event)).matched)).toEqual(scan(live.values(), event));
      },
    ),
    { numRuns: 200 },
  ));

test("matching in slices gives the same result", async () => {
  const index = new MatchIndex(
    Array.from({ length: 20_000 }, (_, i) => interest("com.*", `data.n > ${i - 10}`)),
  );
  let others = 0;
  const tick = setInterval(() => others++, 0);
  const [three, five] = await Promise.all([
    index.match({ type: "com.x", data: { n: 3 } }),
    index.match({ type: "com.x", data: { n: 5 } }),
  ]);
  clearInterval(tick);
  expect(three.matched).toHaveLength(13);
  expect(five.matched).toHaveLength(15);
  expect(others).toBeGreaterThan(0);
});

test("one whose filter changes while an event is matched in slices is found once, as it is then", async () => {
  const many = Array.from({ length: 20_000 }, (_, i) => interest("com.*", `data.n > ${i - 10}`));
  const index = new MatchIndex(many);
  const [first, last] = [many[0] as Subscription, many.at(-1) as Subscription];
  const matching = index.match({ type: "com.x", data: { n: 3 } });
  // The pass has asked the first filter and not the last.
  index.add({ ...first, filter: "data.n == 3" });
  index.add({ ...last, filter: "data.n == 3" });
  const { matched } = await matching;
  expect(matched).toHaveLength(14);
  expect(ids(matched).filter((id) => id === first.id || id === last.id)).toEqual([first.id, last.id].sort());
  expect(matched.find(({ id }) => id === first.id)?.filter).toBe("data.n == 3");
});

describe("globs that cost much", () => {
  /** As costly as one may be, on the longest type there is. */
  const hostile = (i: number) => `*${"?".repeat(30)}[b-${String.fromCharCode(100 + i)}]*`;
  const type = "a".repeat(255);

  test("share the allowance of filters, and are suspended when it is used up; the others go on", async () => {
    let now = 0;
    const globs = Array.from({ length: 20 }, (_, i) => hostile(i));
    const index = new MatchIndex(
      [...globs, "a*"].map((glob) => interest(glob)),
      () => now,
    );
    let suspended = 0;
    for (let n = 0; n < 2_000; n++) {
      now += 1;
      const result = await index.match({ type });
      expect(result.matched.map(({ glob }) => glob)).toEqual(["a*"]);
      suspended += result.suspended;
    }
    expect(suspended).toBeGreaterThan(10);
    const subscriptions = [...globs.keys()].map((i) => `int_${made - 21 + i}`);
    expect(subscriptions.filter((id) => index.suspendedFor(id) > 0).length).toBeGreaterThan(10);
    expect(index.suspendedFor(`int_${made - 1}`)).toBe(0);
    expect((await index.match({ type })).errors).toBeGreaterThan(10);
    // Short types cost nothing: the glob is only suspended for a time.
    now += 1_200_000;
    expect((await index.match({ type: `${"x".repeat(30)}b` })).errors).toBe(0);
  });

  test("are matched in slices, between which subscriptions may come and go", async () => {
    const index = new MatchIndex(Array.from({ length: 5_000 }, (_, i) => interest(`*[${i}a]??????????*a`)));
    const first = made - 5_000;
    let others = 0;
    const tick = setInterval(() => {
      index.remove(`int_${first + others++}`);
    }, 0);
    const { matched } = await index.match({ type });
    clearInterval(tick);
    expect(others).toBeGreaterThan(0);
    expect(new Set(ids(matched)).size).toBe(matched.length);
    expect(matched.length).toBeGreaterThanOrEqual(5_000 - others);
  });

  test("one whose glob changes while an event is matched in slices is found once, as it is then", async () => {
    const many = Array.from({ length: 5_000 }, (_, i) => interest(`*[${i}a]??????????*a`));
    const index = new MatchIndex(many);
    const [first, last] = [many[0] as Subscription, many.at(-1) as Subscription];
    const matching = index.match({ type });
    // The pass has tested the first glob and not the last.
    index.add({ ...first, glob: last.glob });
    index.add({ ...last, glob: "*a*a" });
    index.add({ ...(many.at(-2) as Subscription), glob: "b*" });
    const { matched } = await matching;
    expect(matched.find(({ id }) => id === last.id)?.glob).toBe("*a*a");
    expect(new Set(ids(matched)).size).toBe(4_999);
    expect(matched).toHaveLength(4_999);
  });
});
