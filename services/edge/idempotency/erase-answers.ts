import { toNames } from "../../../lib/text/subject.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { IdempotencyDoc, KeptAnswer } from "./idempotency.model.ts";

const PAGE = 200;

/** Which answers to erase: those that contain one of the ids, name a person, or were given to a caller. */
export interface ErasedAnswers {
  ids?: readonly string[];
  subject?: string;
  caller_id?: string;
}

/** Returns whether an answer is to be erased. @param text the answer as JSON */
type IsErased = (caller_id: string, text: string) => boolean;

export function toIsErased({ caller_id, ...named }: ErasedAnswers): IsErased {
  const names = toNames(named);
  return (caller, text) => caller === caller_id || textsIn(text).some(names);
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
  // A crash may leave a blob without an answer.
  const kept = { $or: [{ answer: { $ne: null } }, { answer_blob: { $exists: true } }] };
  for await (const rows of records.batches(tenant_id, kept, { limit: PAGE, projection })) {
    const erased = rows.filter(
      ({ answer_blob, caller_id, answer, secret_ends_at }) =>
        answer_blob || isErased(caller_id, secret_ends_at ? "" : (answer as string)),
    );
    const filter = { _id: { $in: erased.map(({ _id }) => _id) } };
    const update = { $set: { answer: null }, $unset: { answer_blob: 1 } };
    if (erased.length) await records.updateMany(tenant_id, filter, update);
  }
}

/** Returns the body and the headers of an answer. */
function textsIn(answer: string): string[] {
  const { body, base64, headers = {} } = JSON.parse(answer || "{}") as Partial<KeptAnswer>;
  return [
    base64 ? Buffer.from(body ?? "", "base64").toString("utf8") : (body ?? ""),
    JSON.stringify(headers),
  ];
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
