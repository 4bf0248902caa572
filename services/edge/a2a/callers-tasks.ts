import { isFault } from "../../../lib/contract/faults.ts";
import type { Runtime } from "../../runtime.ts";
import type { TaskPage, TaskQuery } from "../../work/a2a/list.ts";
import type { MessageJson, PushConfigJson, Side, Versioned } from "../../work/a2a/task.ts";
import type { RootCall } from "../gateway/http-exchange.ts";

/** The tasks that the caller of a request gave to one agent. Its methods throw only what callers may read. */
export class CallersTasks {
  readonly #ctx: Pick<RootCall, "call">;
  readonly #side: Side;
  readonly #log: Pick<Runtime["log"], "error">;

  constructor(ctx: Pick<RootCall, "call">, side: Side, log: Pick<Runtime["log"], "error">) {
    this.#ctx = ctx;
    this.#side = side;
    this.#log = log;
  }

  send(message: MessageJson, push?: Omit<PushConfigJson, "taskId">): Promise<Versioned> {
    return this.#call("send", { message, push });
  }

  read(task_id: string): Promise<Versioned> {
    return this.#call("read", { task_id });
  }

  /** Returns null if it has not changed since. */
  readNewer(task_id: string, version: number): Promise<Versioned | null> {
    return this.#call("read_newer", { task_id, version });
  }

  cancel(task_id: string): Promise<Versioned> {
    return this.#call("cancel", { task_id });
  }

  list(query: Omit<TaskQuery, keyof Side>): Promise<TaskPage> {
    return this.#call("list", query);
  }

  createPush(config: PushConfigJson): Promise<PushConfigJson> {
    return this.#call("create_push", { config });
  }

  getPush(task_id: string, config_id: string): Promise<PushConfigJson> {
    return this.#call("get_push", { task_id, config_id });
  }

  listPush(task_id: string): Promise<PushConfigJson[]> {
    return this.#call("list_push", { task_id });
  }

  deletePush(task_id: string, config_id: string): Promise<void> {
    return this.#call("delete_push", { task_id, config_id });
  }

  async #call<T>(name: string, params: object): Promise<T> {
    try {
      return await this.#ctx.call<T>(`a2a_tasks.${name}`, { ...this.#side, ...params });
    } catch (err) {
      if (isFault(err)) throw err;
      // The library would send its message to the caller.
      this.#log.error({ err }, "an A2A request failed");
      throw new Error("The service failed unexpectedly. Repeat the request.");
    }
  }
}
