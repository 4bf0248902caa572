import { expect, test } from "@jest/globals";
import { type ThreadLimits, WorkerThread } from "../../lib/worker-thread.ts";
import { settle } from "../support/settle.ts";

const LIMITS: ThreadLimits = { megabytes: 64 };

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
  ["failed", "throw new Error('broken')", LIMITS],
  ["failed", "process.exit(0)", LIMITS],
  ["time", "for (;;);", { ...LIMITS, cpuSeconds: 0.3 }],
  ["time", "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)", { ...LIMITS, wallSeconds: 0.5 }],
  ["memory", "let all; for (;;) all = { all };", LIMITS],
  ["memory", "globalThis.held = Buffer.alloc(100_000_000, 1); for (;;);", LIMITS],
])(
  "a request that ends its thread says why (%s: %s), and the next one starts another",
  async (reason, code, limits) => {
    const thread = evaluating(limits);
    await expect(thread.request(code)).rejects.toMatchObject({ reason });
    expect(await thread.request("seen")).toBe(1);
    await thread.close();
  },
);

test("a request has its own processor time, whatever those before it took", async () => {
  const thread = evaluating({ ...LIMITS, cpuSeconds: 0.9 });
  const busy = "for (const end = performance.now() + 600; performance.now() < end; ); seen";
  expect([await thread.request(busy), await thread.request(busy)]).toEqual([1, 2]);
  await thread.close();
});

test("closing ends what a thread is doing", async () => {
  const thread = evaluating();
  const endless = thread.request("for (;;);");
  await Promise.all([expect(endless).rejects.toMatchObject({ reason: "closed" }), thread.close()]);
});
