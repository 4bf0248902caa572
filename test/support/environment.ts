import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { appendFileSync } from "node:fs";
import type { Server } from "node:net";
import type { Worker } from "node:worker_threads";
import type { Circus } from "@jest/types";
import { TestEnvironment } from "jest-environment-node";
import { CPU_FILE, cpuSeconds } from "./cpu.ts";
import { patience } from "./patience.ts";
import { settle } from "./settle.ts";

/**
 * Node's environment, failing a test file that leaves child processes, worker threads or servers behind. The limit of
 * tests and hooks grows with the load of the machine. Notes the processor time of the file where the test command asks
 * for it.
 */
export default class LeakCheckedEnvironment extends TestEnvironment {
  #file: string;
  #cpuBefore = cpuSeconds();
  #usualLimit = 0;
  #limit = 0;
  #children = new Set<ChildProcess>();
  #workers = new Set<Worker>();
  #servers = new Set<Server>();
  #failed: Circus.TestEntry[] = [];

  /** Node reports every started process and server on these channels. */
  #channels: [name: string, listener: (message: unknown) => void][] = [
    ["child_process", (message) => this.#children.add((message as { process: ChildProcess }).process)],
    ["worker_threads", (message) => this.#workers.add((message as { worker: Worker }).worker)],
    [
      "tracing:net.server.listen:asyncEnd",
      (message) => this.#servers.add((message as { server: Server }).server),
    ],
  ];

  constructor(...args: ConstructorParameters<typeof TestEnvironment>) {
    super(...args);
    this.#file = args[1].testPath;
  }

  override async setup(): Promise<void> {
    await super.setup();
    for (const [name, listener] of this.#channels) subscribe(name, listener);
  }

  override async teardown(): Promise<void> {
    for (const [name, listener] of this.#channels) unsubscribe(name, listener);
    // For a file that had started something when loading it failed.
    await this.#stopAll();
    await super.teardown();
    const notes = process.env[CPU_FILE];
    const cpu = cpuSeconds() - this.#cpuBefore;
    if (notes) appendFileSync(notes, `${JSON.stringify({ file: this.#file, cpu })}\n`);
  }

  // After the file's own afterAll hooks, and early enough for an error to fail the file.
  async handleTestEvent(event: Circus.Event, state: Circus.State): Promise<void> {
    if (event.name === "hook_start" || event.name === "test_fn_start") this.#setLimit(state);
    if (event.name === "test_done" && event.test.errors.length > 0) this.#failed.push(event.test);
    if (event.name !== "run_finish") return;
    try {
      await settle(() => this.#left().length === 0);
    } catch {
      const left = this.#left();
      await this.#stopAll();
      // Jest shows this error in place of theirs.
      const failed = this.#failed.map(({ name, errors }) => `${name}: ${errors.flat().join(" ")}; `);
      throw new Error(`${failed.join("")}the test file left running: ${left.join("; ")}`);
    }
  }

  /** Circus reads the limit after this. A file may have set another one since. */
  #setLimit(state: Circus.State): void {
    if (state.testTimeout !== this.#limit) this.#usualLimit = state.testTimeout;
    this.#limit = this.#usualLimit * patience();
    state.testTimeout = this.#limit;
  }

  #left(): string[] {
    return [
      ...[...this.#children]
        .filter(isRunning)
        .map(({ pid, spawnargs }) => `process ${pid} ${spawnargs.join(" ")}`),
      ...[...this.#workers]
        .filter(({ threadId }) => threadId !== -1)
        .map(({ threadId }) => `worker ${threadId}`),
      ...[...this.#servers]
        .filter(({ listening }) => listening)
        .map((server) => `server on ${portOf(server)}`),
    ];
  }

  // Anything left running would keep jest from ending.
  async #stopAll(): Promise<void> {
    for (const child of this.#children) if (isRunning(child)) child.kill("SIGKILL");
    for (const server of this.#servers) server.close();
    for (const worker of this.#workers) await worker.terminate();
  }
}

function isRunning(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

function portOf(server: Server): string {
  const address = server.address();
  return typeof address === "object" && address ? `port ${address.port}` : String(address);
}
