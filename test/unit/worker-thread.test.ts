import { expect, test } from "@jest/globals";
import { WorkerThread } from "../../lib/worker-thread.ts";
import { settle } from "../support/settle.ts";

const LIMITS = { seconds: 30, megabytes: 64 };

/** A thread that evaluates what it is asked, and remembers in `seen` how often. */
function evaluating(limits = LIMITS, idleMs = 60_000): WorkerThread<string, unknown> {
  const script = `
    import { parentPort } from "node:worker_threads";
    globalThis.seen = 0;
    parentPort.on("message", (code) => { seen++; parentPort.postMessage(eval(code)); });`;
  const module = new URL(`data:text/javascript,${encodeURIComponent(script)}`);
  return new WorkerThread({ name: "test", module, limits, idleMs });
}

test("a thread goes on from request to request, until it is closed", async () => {
  const thread = evaluating();
  expect(thread.isWarm).toBe(false);
  expect([await thread.request("seen"), await thread.request("seen")]).toEqual([1, 2]);
  expect(thread.isWarm).toBe(true);
  await thread.close();
  expect(await thread.request("seen")).toBe(1);
  await thread.close();
});

test("a thread that has nothing to do ends", async () => {
  const thread = evaluating(LIMITS, 1);
  await thread.request("seen");
  await settle(() => !thread.isWarm);
  const once = evaluating(LIMITS, 0);
  expect([await once.request("seen"), await once.request("seen")]).toEqual([1, 1]);
});

test.each([
  ["failed", "throw new Error('broken')"],
  ["failed", "process.exit(0)"],
  ["time", "for (;;);"],
  ["memory", "let all; for (;;) all = { all };"],
  ["memory", "globalThis.held = Buffer.alloc(100_000_000, 1); for (;;);"],
])(
  "a request that ends its thread says why (%s: %s), and the next one starts another",
  async (reason, code) => {
    const thread = evaluating(reason === "time" ? { ...LIMITS, seconds: 1 } : LIMITS);
    await expect(thread.request(code)).rejects.toMatchObject({ reason });
    expect(await thread.request("seen")).toBe(1);
    await thread.close();
  },
);

test("closing ends what a thread is doing", async () => {
  const thread = evaluating();
  const endless = thread.request("for (;;);");
  await Promise.all([expect(endless).rejects.toMatchObject({ reason: "closed" }), thread.close()]);
});
