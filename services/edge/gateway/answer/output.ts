import type { ServerResponse } from "node:http";
import type { Release, Share } from "../../../../lib/queue/fair-queue.ts";
import { memory } from "../../../../lib/queue/work.ts";
import { metrics } from "../../../../observability/metrics.ts";

/** Memory of a part while it is read, and its time on the event loop: the row, its values and its text, by its bytes. */
const READING = 4;
/** Shorter texts are not counted while the connection takes them: Node keeps as much for each. */
export const SMALL_BYTES = 16_384;
/** Sent at once of a longer text: a connection that takes less in STALLED_MS is closed. */
const SLICE_BYTES = 65_536;
const STALLED_MS = 20_000;
/** Longer than connections of the same caller that are not read may hold its share. */
const PATIENCE_MS = 30_000;

/**
 * Writes the body of an answer: the only code that does (architecture.test.ts). Whatever is not in the connection yet is
 * charged to the caller's share of memory; a connection that does not read is closed.
 */
export class Output {
  readonly #res: ServerResponse;
  readonly #share: Share;
  readonly #operation: string;
  #held = 0;
  #returnHeld: Release | undefined;
  #holding: Promise<unknown> = Promise.resolve();
  #writing: Promise<unknown> = Promise.resolve();

  /** @param share the caller's (`requestShare`) */
  constructor(res: ServerResponse, share: Share, operation: string) {
    this.#res = res;
    this.#share = share;
    this.#operation = operation;
    res.once("close", () => this.release());
  }

  /** Bytes that are reserved or charged for what is written next. */
  get held(): number {
    return this.#held;
  }

  /**
   * Waits until a part of the answer may be read into memory. The next write returns the reserved bytes.
   * @throws Fault service_unavailable when the caller's share stays taken
   */
  reserve(bytes: number): Promise<void> {
    // Nothing is in memory yet: it takes no place among the answers that wait there.
    return this.#hold(() => bytes * READING, 1);
  }

  /**
   * Charges what is in memory already, in addition to what is held. Awaiting it before more is read bounds that, too.
   * @throws Fault rate_limited, service_unavailable while the caller's share is taken
   */
  charge(bytes: number): Promise<void> {
    return this.#hold(() => this.#held + Math.max(bytes, 0), bytes);
  }

  /**
   * Sends a part when those before it are sent; resolves when the connection takes more, or is closed.
   * @throws Fault as `charge`, before anything was sent
   */
  write(data: string | Uint8Array): Promise<void> {
    const written = this.#writing.then(() => this.#write(data));
    this.#writing = written.catch(() => {});
    return written;
  }

  /** Sends a comment, unless the connection has more to read already. */
  comment(): void {
    const res = this.#res;
    // A slow reader needs no heartbeat, and unread data must not pile up. Nothing may follow the end of the response.
    if (!res.writableNeedDrain && !res.writableEnded) res.write(":\n\n");
  }

  /** Sends parts, each read only once the one before it is sent. @param largest bytes of a part while it is read */
  async writeAll(parts: AsyncGenerator<string | Uint8Array>, largest: number): Promise<void> {
    const res = this.#res;
    try {
      while (!res.destroyed) {
        await this.reserve(largest);
        // A part may never come, when nobody waits for it any more.
        const part = await this.#unlessClosed(parts.next());
        if (part?.done) return this.end();
        if (part) await this.write(part.value);
      }
    } catch (err) {
      // Sent bytes cannot be taken back: the caller must see that the answer is cut off.
      if (res.headersSent) res.destroy();
      throw err;
    } finally {
      parts.return(undefined).catch(() => {});
    }
  }

  /** Resolves with null if the connection closes first. Racing one promise of its end would keep all that was read. */
  #unlessClosed<T>(reading: Promise<T>): Promise<T | null> {
    const { promise, resolve, reject } = Promise.withResolvers<T | null>();
    const onClose = () => resolve(null);
    this.#res.once("close", onClose);
    const settled = () => this.#res.off("close", onClose);
    reading.then(resolve, reject).finally(settled);
    return promise;
  }

  /** Returns what is reserved, if nothing is to be written after all. */
  release(): void {
    this.#held = 0;
    this.#returnHeld?.();
    this.#returnHeld = undefined;
  }

  /** Returns what is held beyond so many bytes. */
  #keep(bytes: number): void {
    if (this.#held <= bytes) return;
    this.#returnHeld?.(this.#held - bytes);
    this.#held = bytes;
  }

  end(): void {
    this.release();
    this.#res.end();
  }

  async #write(data: string | Uint8Array): Promise<void> {
    const res = this.#res;
    if (res.destroyed || res.writableEnded) return;
    const bytes = typeof data === "string" ? Buffer.from(data) : data;
    if (bytes.length > Math.max(SMALL_BYTES, this.#held)) {
      try {
        await this.charge(bytes.length - this.#held);
      } catch (err) {
        if (!res.headersSent) throw err;
        res.destroy();
      }
    }
    this.#keep(bytes.length);
    for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
      // A fast connection takes megabytes at once, for which other answers would wait.
      if (at > 0) await new Promise(setImmediate);
      if (res.destroyed) break;
      if (!res.write(bytes.subarray(at, at + SLICE_BYTES))) await this.#taken();
    }
    this.release();
  }

  /** Resolves when the connection takes more. Closes one that does not for a while. */
  async #taken(): Promise<void> {
    const res = this.#res;
    if (res.destroyed) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const stalled = setTimeout(() => {
      metrics.unreadAnswers.inc({ operation: this.#operation });
      res.destroy();
    }, STALLED_MS);
    res.once("drain", resolve).once("close", resolve);
    await promise;
    clearTimeout(stalled);
    res.off("drain", resolve).off("close", resolve);
  }

  /** Holds so many bytes in all. Nobody waits while holding some: two could wait for each other. */
  #hold(total: () => number, queued: number): Promise<void> {
    const holding = this.#holding.then(async () => {
      const bytes = total();
      if (bytes <= this.#held) return;
      this.release();
      const release = await memory.acquire(this.#share, bytes, { queued, patienceMs: PATIENCE_MS });
      if (this.#res.destroyed) return release();
      this.#held = bytes;
      this.#returnHeld = release;
    });
    this.#holding = holding.catch(() => {});
    return holding;
  }
}
