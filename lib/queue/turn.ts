let tasks: (() => void)[] = [];

/**
 * Runs a task at the end of this turn of the event loop, when all that has arrived on sockets has been read. Tasks that
 * are added by such a task run in the same turn, after it: what one gathers the next sends on without another round
 * past the sockets. A task must not throw.
 */
export function atTurnEnd(task: () => void): void {
  if (tasks.length === 0) setImmediate(runAll);
  tasks.push(task);
}

function runAll(): void {
  for (const task of tasks) task();
  tasks = [];
}
