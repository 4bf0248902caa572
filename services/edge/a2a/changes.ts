import { EventEmitter } from "node:events";

/** Announces changes of tasks to the requests that wait on this node. */
export class Changes {
  readonly #emitter = new EventEmitter().setMaxListeners(0);

  announce(task_id: string): void {
    this.#emitter.emit(task_id);
  }

  /** Remembers changes of a task from now on, until it is closed. */
  watch(task_id: string): Watch {
    return new Watch(this.#emitter, task_id);
  }
}

class Watch {
  readonly #emitter: EventEmitter;
  readonly #task_id: string;
  #changed = false;
  #wake = () => {};

  constructor(emitter: EventEmitter, task_id: string) {
    this.#emitter = emitter;
    this.#task_id = task_id;
    emitter.on(task_id, this.#notice);
  }

  /** Resolves at the next change, at once if there was one since the last call; or after a time, or at the end. */
  async next(ms: number, ended: AbortSignal): Promise<void> {
    if (!this.#changed && !ended.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
        ended.addEventListener("abort", this.#wake, { once: true });
      });
      ended.removeEventListener("abort", this.#wake);
    }
    this.#changed = false;
  }

  close(): void {
    this.#emitter.off(this.#task_id, this.#notice);
  }

  readonly #notice = () => {
    this.#changed = true;
    this.#wake();
  };
}
