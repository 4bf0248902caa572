import { type ErasedAnswers, type IsErased, toIsErased } from "./erase-answers.ts";
import type { KeptAnswer } from "./idempotency.model.ts";

/** Requests that read data before its erasure are answered by then. */
const KEPT_MS = 15 * 60_000;

/** Recent erasures: answers in progress must not be stored with what they erased. */
export class RecentErasures {
  readonly #now: () => number;
  readonly #erased = new Map<string, { at: number; isErased: IsErased }[]>();

  /** @param now in milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  add(tenant_id: string, erased: ErasedAnswers): void {
    for (const key of [...this.#erased.keys()]) this.#forgetOld(key);
    const known = this.#erased.get(tenant_id) ?? [];
    this.#erased.set(tenant_id, [...known, { at: this.#now(), isErased: toIsErased(erased) }]);
  }

  /** Whether an answer may contain erased data; one in a blob is not searched. @param text the answer as JSON */
  mayBeIn(tenant_id: string, caller_id: string, answer: KeptAnswer, text: string): boolean {
    this.#forgetOld(tenant_id);
    const erased = this.#erased.get(tenant_id);
    if (!erased) return false;
    return answer.blob !== undefined || erased.some(({ isErased }) => isErased(caller_id, text));
  }

  #forgetOld(tenant_id: string): void {
    const before = this.#now() - KEPT_MS;
    const left = (this.#erased.get(tenant_id) ?? []).filter(({ at }) => at > before);
    if (left.length) this.#erased.set(tenant_id, left);
    else this.#erased.delete(tenant_id);
  }
}
