import { isFault } from "../../../lib/contract/faults.ts";
import type { Runtime } from "../../runtime.ts";
import type { TaskPage, TaskQuery } from "../../work/a2a/a2a-tasks.ts";
import type { MessageJson, PushConfigJson, Side, Versioned } from "../../work/a2a/task.ts";
import type { RootCall } from "../gateway/http-exchange.ts";
import { requireSpace, requireWrites } from "../gateway/limits/storage-limits.ts";
import { sendA2a } from "./a2a.contract.ts";

/** The gateway cannot know which requests of a stream write. */
const WRITE = { ...sendA2a, stream: false };

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

  send(message: MessageJson, push?: Omit<PushConfigJson, "taskId">): Promise<Versioned> {
    return this.#write("send", { message, push });
  }

  read(task_id: string): Promise<Versioned> {
    return this.#call("read", { task_id });
  }

  /** Returns null if it has not changed since. */
  readNewer(task_id: string, version: number): Promise<Versioned | null> {
    return this.#call("read_newer", { task_id, version });
  }

  cancel(task_id: string): Promise<Versioned> {
    return this.#write("cancel", { task_id });
  }

  list(query: Omit<TaskQuery, keyof Side>): Promise<TaskPage> {
    return this.#call("list", query);
  }

  createPush(config: PushConfigJson): Promise<PushConfigJson> {
    return this.#write("create_push", { config });
  }

  getPush(task_id: string, config_id: string): Promise<PushConfigJson> {
    return this.#call("get_push", { task_id, config_id });
  }

  listPush(task_id: string): Promise<PushConfigJson[]> {
    return this.#call("list_push", { task_id });
  }

  deletePush(task_id: string, config_id: string): Promise<void> {
    return this.#write("delete_push", { task_id, config_id }, "DELETE");
  }

  async #write<T>(name: string, params: object, method: "POST" | "DELETE" = "POST"): Promise<T> {
    requireSpace({ ...WRITE, method }, this.#runtime.disk);
    requireWrites(WRITE, this.#runtime.modes);
    return this.#call(name, params);
  }

  async #call<T>(name: string, params: object): Promise<T> {
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
