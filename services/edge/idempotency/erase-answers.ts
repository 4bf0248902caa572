import { writings } from "../../../lib/text/subject.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { IdempotencyDoc, KeptAnswer } from "./idempotency.model.ts";

const PAGE = 200;
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Which answers to erase: those that contain one of the ids, name a person, or were given to a caller. */
export interface ErasedAnswers {
  ids?: readonly string[];
  subject?: string;
  caller_id?: string;
}

/** Returns whether an answer is to be erased. @param text the answer as JSON */
type IsErased = (caller_id: string, text: string) => boolean;

export function toIsErased({ ids = [], subject, caller_id }: ErasedAnswers): IsErased {
  const known = new Set(ids);
  const words = subject === undefined ? [] : writings(subject);
  return (caller, text) =>
    caller === caller_id ||
    (known.size > 0 && (text.match(UUID) ?? []).some((id) => known.has(id))) ||
    (words.length > 0 && mentions(text, words));
}

/**
 * Drops stored answers that are to be erased or too large to search; their keys stay used. Scans all of the tenant's
 * answers: an index would cost every request.
 */
export async function eraseAnswers(
  records: TenantCollection<IdempotencyDoc>,
  tenant_id: string,
  isErased: IsErased,
): Promise<void> {
  const projection = { answer: 1, answer_blob: 1, caller_id: 1, secret_ends_at: 1 } as const;
  const options = { sort: { _id: 1 } as const, limit: PAGE, projection };
  // A crash may leave a blob without an answer.
  const kept = { $or: [{ answer: { $ne: null } }, { answer_blob: { $exists: true } }] };
  let after = "";
  for (;;) {
    const { rows, more } = await records.findWithin(tenant_id, { _id: { $gt: after }, ...kept }, options);
    const erased = rows.filter(
      ({ answer_blob, caller_id, answer, secret_ends_at }) =>
        answer_blob || isErased(caller_id, secret_ends_at ? "" : (answer as string)),
    );
    const those = { _id: { $in: erased.map(({ _id }) => _id) } };
    const update = { $set: { answer: null }, $unset: { answer_blob: 1 } };
    if (erased.length) await records.updateMany(tenant_id, those, update);
    if (!more && rows.length < PAGE) return;
    after = (rows.at(-1) as IdempotencyDoc)._id;
  }
}

/** Whether an answer contains one of these as whole words, in its body as text or within JSON. */
function mentions(text: string, words: readonly string[]): boolean {
  const { body, base64, headers } = JSON.parse(text || "{}") as Partial<KeptAnswer>;
  const texts = [
    base64 ? Buffer.from(body ?? "", "base64").toString("utf8") : (body ?? ""),
    JSON.stringify(headers ?? {}),
  ];
  const looked = new Set(words.flatMap((word) => [word, JSON.stringify(word).slice(1, -1)]));
  return texts.some((each) => [...looked].some((word) => hasWord(each, word)));
}

const LETTER = /[\p{L}\p{N}]/u;

function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (!LETTER.test(text[at - 1] ?? "") && !LETTER.test(text[at + word.length] ?? "")) return true;
  }
  return false;
}

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
