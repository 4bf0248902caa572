import { hash } from "node:crypto";
import { StreamResponse } from "@a2a-js/sdk";
import { Loop } from "../../../mixins/loop.ts";
import type { TaskState } from "../../work/a2a/a2a-tasks.contract.ts";
import { MAX_TASK, type Side, type TaskJson, type Versioned } from "../../work/a2a/task.ts";
import { answerMemory } from "../gateway/answer/output.ts";
import type { CallersTasks } from "./callers-tasks.ts";

/** Until a task that somebody follows is checked again, in case the announcement of its change was lost. */
const LOOK_MS = 5000;
/** Limits of the updates that are kept for followers of one task who have not sent them yet, and of all of them. */
const MOST_CHANGES = 16;
const MOST_BYTES = MAX_TASK;
const MOST_BYTES_OF_ALL = 16 * MAX_TASK;

/** A waiting request: its end, and the check that its caller is still accepted. */
export interface Waiting {
  ended: AbortSignal;
  recheck(): unknown;
}

/** What has changed in a task since a version. */
export interface Progress {
  version: number;
  state: TaskState;
  /** JSON texts of A2A 1.0; null if they are no longer known: the task has to be read. */
  updates: string[] | null;
}

/** A change of a task. */
interface Change {
  from: number;
  to: number;
  updates: string[];
  bytes: number;
}

/**
 * The tasks that requests on this node follow. Each is read once for each change, for all its followers, and what changed is
 * computed and formatted once. A follower has only a version: what it missed costs no memory.
 */
export class Feeds {
  readonly #tasksOf: (side: Side) => CallersTasks;
  readonly #feeds = new Map<string, Feed>();
  #bytes = 0;

  constructor(tasksOf: (side: Side) => CallersTasks) {
    this.#tasksOf = tasksOf;
  }

  /** A task has changed. */
  announce(task_id: string): void {
    this.#feeds.get(task_id)?.look();
  }

  /**
   * Yields what has changed since a caller read its task, until a state is the last one or the request ends.
   *
   * @throws Fault not_found once the task is gone, or what else its reader throws
   */
  async *follow(
    side: Side,
    { id, version, state }: Followed,
    { ended, recheck }: Waiting,
    isLast: (state: TaskState) => boolean,
  ): AsyncGenerator<Progress, void, undefined> {
    if (isLast(state)) return;
    const feed = this.#join(side, id);
    try {
      for (let known = version; ; ) {
        await feed.after(known, ended);
        if (ended.aborted) return;
        await recheck();
        const progress = feed.since(known);
        known = progress.version;
        yield progress;
        if (isLast(progress.state)) return;
      }
    } finally {
      if (feed.leave()) this.#feeds.delete(id);
    }
  }

  /** Only one caller can read a task: its id is enough of a key. */
  #join(side: Side, id: string): Feed {
    let feed = this.#feeds.get(id);
    if (!feed) {
      const tasks = this.#tasksOf(side);
      const read = async (known: number) => {
        const release = await answerMemory.acquire({ ...side, caller: side.caller_id }, MAX_TASK, 1);
        try {
          return await tasks.readNewer(id, known);
        } finally {
          release();
        }
      };
      feed = new Feed(read, (bytes) => this.#count(bytes));
      this.#feeds.set(id, feed);
    }
    feed.join();
    return feed;
  }

  /** Counts kept texts; above the limit those of the tasks that have been followed for longest are dropped. */
  #count(bytes: number): void {
    this.#bytes += bytes;
    if (bytes < 0) return;
    for (const feed of this.#feeds.values()) {
      if (this.#bytes <= MOST_BYTES_OF_ALL) return;
      feed.forget();
    }
  }
}

/** A task as a request has read it. */
export interface Followed {
  id: string;
  version: number;
  state: TaskState;
}

export const followed = ({ task, version }: Versioned): Followed => {
  return { id: task.id, version, state: task.status.state };
};

/** One followed task. */
class Feed {
  readonly #read: (known: number) => Promise<Versioned | null>;
  readonly #count: (bytes: number) => void;
  readonly #wakers = new Set<() => void>();
  #followers = 0;
  #version = 0;
  #state: TaskState = "TASK_STATE_SUBMITTED";
  #digest: Digest | undefined;
  #changes: Change[] = [];
  #failure: unknown;
  readonly #loop: Loop;

  constructor(read: (known: number) => Promise<Versioned | null>, count: (bytes: number) => void) {
    this.#read = read;
    this.#count = count;
    this.#loop = new Loop(
      () => this.#look(),
      LOOK_MS,
      () => {},
    );
  }

  join(): void {
    this.#followers++;
    // Finds what changed while nobody followed it here.
    if (this.#followers === 1) this.#loop.start();
  }

  /** @returns whether nobody is left */
  leave(): boolean {
    if (--this.#followers > 0) return false;
    void this.#loop.stop();
    this.forget();
    return true;
  }

  look(): void {
    this.#loop.nudge();
  }

  /** Resolves when there is a later version, or at the end. */
  async after(version: number, ended: AbortSignal): Promise<void> {
    while (this.#version <= version && !this.#failure && !ended.aborted) {
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.#wakers.delete(wake);
          ended.removeEventListener("abort", wake);
          resolve();
        };
        this.#wakers.add(wake);
        ended.addEventListener("abort", wake, { once: true });
      });
    }
    if (this.#failure) throw this.#failure;
  }

  since(version: number): Progress {
    const first = this.#changes.findIndex(({ from }) => from === version);
    const updates = first < 0 ? null : this.#changes.slice(first).flatMap((change) => change.updates);
    return { version: this.#version, state: this.#state, updates };
  }

  /** Drops the texts of changes: who has not sent them yet reads the task. */
  forget(): void {
    for (const { bytes } of this.#changes.splice(0)) this.#count(-bytes);
  }

  async #look(): Promise<false> {
    try {
      const next = await this.#read(this.#version);
      if (next) this.#take(next);
    } catch (err) {
      this.#failure = err;
      void this.#loop.stop();
    }
    for (const wake of [...this.#wakers]) wake();
    return false;
  }

  #take({ task, version }: Versioned): void {
    const digest = makeDigest(task);
    if (this.#digest && this.#followers > 0) {
      const updates = updatesSince(this.#digest, task);
      const bytes = updates.reduce((sum, { length }) => sum + length, 0);
      this.#changes.push({ from: this.#version, to: version, updates, bytes });
      this.#trim();
      this.#count(bytes);
    }
    this.#version = version;
    this.#state = task.status.state;
    this.#digest = digest;
  }

  #trim(): void {
    let bytes = this.#changes.reduce((sum, change) => sum + change.bytes, 0);
    while (this.#changes.length > MOST_CHANGES || bytes > MOST_BYTES) {
      const [oldest] = this.#changes.splice(0, 1) as [Change];
      bytes -= oldest.bytes;
      this.#count(-oldest.bytes);
    }
  }
}

/** What an update needs to know of the version before it, in little memory. */
interface Digest {
  artifacts: BigUint64Array;
  status: bigint;
}

const digest = (value: object) => hash("sha256", JSON.stringify(value), "buffer").readBigUInt64LE();

export function makeDigest({ artifacts, status }: TaskJson): Digest {
  return { artifacts: BigUint64Array.from(artifacts, digest), status: digest(status) };
}

/** Returns the updates, as JSON texts of A2A 1.0, that lead from a version of a task to a later one. */
export function updatesSince(before: Digest, after: TaskJson): string[] {
  const ids = { taskId: after.id, contextId: after.contextId };
  const known = new Set(before.artifacts);
  const artifacts = after.artifacts
    .filter((artifact) => !known.has(digest(artifact)))
    .map((artifact) => ({ artifactUpdate: { ...ids, artifact, append: false, lastChunk: true } }));
  const isSame = before.status === digest(after.status);
  const updates = [...artifacts, ...(isSame ? [] : [{ statusUpdate: { ...ids, status: after.status } }])];
  return updates.map((update) => JSON.stringify(StreamResponse.toJSON(StreamResponse.fromJSON(update))));
}
