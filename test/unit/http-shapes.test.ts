import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "@jest/globals";

const SCRIPT = new URL("../support/shapes.mjs", import.meta.url).pathname;
/** One of these is the last but one that V8 watches. */
const CALLS = [1, 2, 3, 4, 5, 6, 7, 8];

/** How the last request is held, for each number of requests before memory was compacted. */
async function lastRequests(kind: "settled" | "plain") {
  const found: { request: boolean; answer: boolean }[] = [];
  for (const calls of CALLS) {
    const args = ["--expose-gc", SCRIPT, kind, String(calls)];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    found.push(JSON.parse(stdout));
  }
  return found;
}

describe("requests and answers, when memory was compacted after the first few", () => {
  test("stay objects where their shapes are settled", async () => {
    expect(await lastRequests("settled")).toEqual(CALLS.map(() => ({ request: true, answer: true })));
  });

  // If this fails, V8 or Node have fixed the problem, and settleHttpShapes can go.
  test("become hash tables where they are not", async () => {
    expect(await lastRequests("plain")).toContainEqual({ request: false, answer: false });
  });
});
