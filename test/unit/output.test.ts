import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { memory } from "../../lib/queue/work.ts";
import { outputTo } from "../support/output.ts";

const MB = 1_048_576;

beforeEach(
  () => void jest.useFakeTimers({ doNotFake: ["setImmediate", "nextTick", "queueMicrotask", "performance"] }),
);
afterEach(() => void jest.useRealTimers());

/** A connection that takes nothing until it is read, and what writes to it. */
function connection() {
  const res = Object.assign(new PassThrough(), { headersSent: true });
  return { res, output: outputTo(res) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("a text is charged until the connection has taken it, and arrives whole", async () => {
  const { res, output } = connection();
  const text = "é".repeat(300_000);
  const written = output.write(text);
  await turn();
  expect(memory.inUse).toBe(Buffer.byteLength(text));
  const read = res.toArray();
  await written;
  expect(memory.inUse).toBe(0);
  output.end();
  expect(Buffer.concat(await read).toString()).toBe(text);
});

test("a connection that takes nothing is closed, and its memory returned", async () => {
  const { res, output } = connection();
  const written = output.write("x".repeat(MB));
  await turn();
  jest.advanceTimersByTime(19_999);
  expect([res.destroyed, memory.inUse]).toEqual([false, MB]);
  jest.advanceTimersByTime(1);
  await written;
  expect([res.destroyed, memory.inUse]).toEqual([true, 0]);
});

test("parts are read one after the other, as they are taken, and not beyond the caller's share", async () => {
  let read = 0;
  const parts = async function* () {
    for (;;) {
      read++;
      yield "x".repeat(9 * MB);
    }
  };
  const connections = Array.from({ length: 20 }, connection);
  const all = connections.map(({ output }) => output.writeAll(parts(), 9 * MB));
  for (let i = 0; i < 20; i++) await turn();
  // One more would take four times its bytes while it is read.
  expect([read, memory.inUse]).toEqual([4, 4 * 9 * MB]);
  for (const { res } of connections) res.destroy();
  await Promise.all(all);
  expect(memory.inUse).toBe(0);
});

test("answers that are in memory already are refused beyond what may wait", async () => {
  const held = connection();
  await held.output.reserve(16 * MB);
  const connections = Array.from({ length: 36 }, connection);
  const charged = connections.map(({ output }) => output.charge(MB).then(() => "taken"));
  const results = Promise.allSettled(charged);
  await turn();
  held.res.destroy();
  await turn();
  for (const { res } of connections) res.destroy();
  const refused = (await results).filter(({ status }) => status === "rejected");
  expect(refused).toHaveLength(4);
  expect(refused[0]).toMatchObject({ reason: { type: "rate_limited" } });
  await turn();
  expect(memory.inUse).toBe(0);
});
