import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { after, pause } from "../../packages/client/support.ts";

const DAY_MS = 86_400_000;

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

test("a wait longer than a timer holds ends when it is over, and not before", async () => {
  const called = jest.fn();
  after(60 * DAY_MS, called);
  await jest.advanceTimersByTimeAsync(60 * DAY_MS - 1);
  expect(called).not.toHaveBeenCalled();
  await jest.advanceTimersByTimeAsync(1);
  expect(called).toHaveBeenCalledTimes(1);
});

test("a long wait can be cancelled in each of its parts, and one for ever is none", async () => {
  const called = jest.fn();
  after(Number.POSITIVE_INFINITY, called)();
  const cancel = after(60 * DAY_MS, called);
  await jest.advanceTimersByTimeAsync(30 * DAY_MS);
  cancel();
  expect(jest.getTimerCount()).toBe(0);
  const ended = new AbortController();
  const paused = pause(60 * DAY_MS, ended.signal);
  await jest.advanceTimersByTimeAsync(30 * DAY_MS);
  ended.abort(new Error("enough"));
  await expect(paused).rejects.toThrow("enough");
  expect(jest.getTimerCount()).toBe(0);
  expect(called).not.toHaveBeenCalled();
});
