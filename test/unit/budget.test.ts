import { expect, test } from "@jest/globals";
import { parseExact } from "../../lib/json/json.ts";
import { MODEL_CHARACTERS, part, shorten } from "../../lib/text/budget.ts";

const sizeOf = (value: unknown) => JSON.stringify(value).length;
const commit = (n: number) => ({ id: `c${n}`, author: { name: "Kim" }, message: `Change ${n}. `.repeat(40) });

test("what fits is the same", () => {
  const value = { rows: [{ n: 1 }, null, "text"] };
  expect(shorten(value, 1000)).toBe(value);
});

test.each<[string, unknown]>([
  ["one long text", { id: "e1", data: { log: "line\n".repeat(200_000) } }],
  ["a text of characters that JSON escapes", { id: "e1", data: '"\u0001'.repeat(100_000) }],
  ["many items", { id: "e1", data: { commits: Array.from({ length: 3000 }, (_, n) => commit(n)) } }],
  [
    "many fields",
    { id: "e1", data: Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`f${n}`, n])) },
  ],
  [
    "a deep nest",
    { id: "e1", data: parseExact(`${"[".repeat(900)}"${"x".repeat(90_000)}"${"]".repeat(900)}`) },
  ],
  ["long names", { id: "e1", data: { ["n".repeat(90_000)]: 1 } }],
])("%s is shortened, and its short fields stay", (_, value) => {
  const short = shorten(value, MODEL_CHARACTERS) as { id: string };
  expect(sizeOf(short)).toBeLessThanOrEqual(MODEL_CHARACTERS + 200);
  expect(short.id).toBe("e1");
  expect(JSON.stringify(short)).toContain("…");
});

test("each of many deliveries keeps what it is settled by, and each gets as much as the others", () => {
  const deliveries = Array.from({ length: 100 }, (_, n) => ({
    ...{ id: `dlv_${n}`, event_id: `evt_${n}`, lease: "1".repeat(24), attempt_count: 1 },
    payload: { type: "com.example.push", data: { n, text: "x".repeat(n % 2 ? 10 : 9000) } },
  }));
  const short = shorten({ deliveries }, MODEL_CHARACTERS) as { deliveries: typeof deliveries };
  expect(short.deliveries).toHaveLength(100);
  for (const [n, { id, event_id, lease, payload }] of short.deliveries.entries()) {
    expect([id, event_id, lease]).toEqual([`dlv_${n}`, `evt_${n}`, "1".repeat(24)]);
    expect(payload.data.n).toBe(n);
    expect(payload.data.text).toMatch(n % 2 ? /^x{10}$/ : /^x{50,}… \(9,000 characters\)$/);
  }
});

test("a list says how many it lacks, and numbers keep their digits", () => {
  const short = shorten(
    parseExact(`{"of": 12345678901234567890, "rows": [${'"abcdefgh",'.repeat(9999)}1]}`),
    5000,
  );
  expect(JSON.stringify(short)).toMatch(/"of":12345678901234567890/);
  expect(JSON.stringify(short)).toMatch(/… [\d,]+ more of 10,000"]/);
});

test("a part has no half of a character, and parts make the whole", () => {
  const text = "a😀".repeat(1000);
  let read = "";
  while (read.length < text.length) {
    const next = part(text, read.length, 7);
    expect(next.isWellFormed()).toBe(true);
    read += next;
  }
  expect(read).toBe(text);
});
