import { apart } from "./work.ts";

let tasks: (() => void)[] = [];

/**
 * Runs a task at the end of this event loop tick, after sockets have been read. Tasks added by such a task run in the
 * same tick, so that one can collect items and the next can send them on. A task must not throw; it is part of no call.
 */
export function atTickEnd(task: () => void): void {
  if (tasks.length === 0) apart(() => setImmediate(runAll));
  tasks.push(task);
}

function runAll(): void {
  for (const task of tasks) task();
  tasks = [];
}
