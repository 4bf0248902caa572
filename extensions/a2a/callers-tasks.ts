import { isFault } from "../../lib/contract/faults.ts";
import { requireSpace, requireWrites } from "../../services/edge/gateway/guards.ts";
import type { RootCall } from "../../services/edge/gateway/http-exchange.ts";
import type { Runtime } from "../../services/runtime.ts";
import { callAgent } from "./a2a.contract.ts";
import type { Side } from "./tasks/task.ts";

/** The gateway cannot know which requests of a stream write. */
const WRITE = { ...callAgent, stream: false };

/** The tasks that the caller of a request gave to one agent. Its methods throw only what callers may read. */
export class CallersTasks {
  readonly #ctx: Pick<RootCall, "call">;
  readonly #side: Side;
  readonly #runtime: Pick<Runtime, "log" | "disk" | "modes">;

  constructor(ctx: Pick<RootCall, "call">, side: Side, runtime: Pick<Runtime, "log" | "disk" | "modes">) {
    this.#ctx = ctx;
    this.#side = side;
    this.#runtime = runtime;
  }

  /** Calls an action that changes something. @throws Fault service_unavailable while writes are refused */
  async write<T>(name: string, params: object, method: "POST" | "DELETE" = "POST"): Promise<T> {
    requireSpace({ ...WRITE, method }, this.#runtime.disk);
    requireWrites(WRITE, this.#runtime.modes);
    return this.read(name, params);
  }

  /** Calls an action of the service of tasks. */
  async read<T>(name: string, params: object): Promise<T> {
    try {
      return await this.#ctx.call<T>(`a2a_tasks.${name}`, { ...this.#side, ...params });
    } catch (err) {
      if (isFault(err)) throw err;
      // The library would send its message to the caller.
      this.#runtime.log.error({ err }, "an A2A request failed");
      throw new Error("The service failed unexpectedly. Repeat the request.");
    }
  }
}
