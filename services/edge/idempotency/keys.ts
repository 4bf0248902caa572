import { createHash, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Config } from "../../../config.ts";
import { conflict, type Fault } from "../../../lib/contract/faults.ts";
import type { Sealed, SecretBox } from "../../../lib/crypto/secrets.ts";
import { newUuid } from "../../../lib/ids.ts";
import { HOUR_MS } from "../../../lib/time.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import { nullIfTaken } from "../../../storage/write-errors.ts";
import type { RecentErasures } from "./erase-answers.ts";
import { answerPlace, type IdempotencyDoc, type KeptAnswer } from "./idempotency.model.ts";

const LEASE_SECONDS = 30;
/** One hour more than documented, to tolerate clock differences. */
const KEPT_MS = 25 * HOUR_MS;
const SECRET_MS = 10 * 60_000;
/** How long `open` waits before it answers that another holder is executing the request: it may run on another node. */
const LOOK_MS = 250;
// The gateway passes larger answers as blobs, except those with a secret: repeating one is a conflict.
const MAX_ANSWER_CHARACTERS = 1_048_576;

/** Identifies a key, which belongs to the caller. */
export interface IdempotencyKey {
  tenant_id: string;
  caller_id: string;
  key: string;
}

/**
 * Result of `idempotency.open`: execute the request, which first came at `first_at` (ms), under this lease and seed; return this
 * answer; or ask again because another holder is executing it.
 */
export type Opening =
  | { outcome: "run"; lease: string; seed: string; first_at: number }
  | { outcome: "replay"; answer: KeptAnswer }
  | { outcome: "wait" };

/** `lease`: the lease to hold the key by. */
export type OpenParams = IdempotencyKey & { fingerprint: string; lease: string };
/** `again`: whatever the answer, execute the same request when it is repeated. */
export type CloseParams = IdempotencyKey & {
  lease: string;
  answer: KeptAnswer;
  secret: boolean;
  again?: boolean;
};

interface KeysOptions {
  records: TenantCollection<IdempotencyDoc>;
  store: Pick<Store, "driver" | "now">;
  secrets: SecretBox;
  config: Pick<Config, "REQUEST_TIMEOUT_SECONDS">;
  erased: RecentErasures;
}

const PROCESS = randomUUID();

/** Creates a lease for a request's key. */
export function newLease(): string {
  return `${PROCESS}/${randomUUID()}`;
}

/**
 * The keys of this store. A key is free, held (under the lease of a running request) or answered. A lease ends with its
 * time, or with its process if the store has only one: a repeated request then takes over the key, with its seed.
 */
export class IdempotencyKeys {
  readonly #options: KeysOptions;
  readonly #leaseMs: number;

  constructor(options: KeysOptions) {
    this.#options = options;
    this.#leaseMs = Math.max(LEASE_SECONDS, options.config.REQUEST_TIMEOUT_SECONDS) * 1000;
  }

  /** @throws Fault conflict (the key was used for another request) */
  async open({ tenant_id, caller_id, key, fingerprint, lease }: OpenParams): Promise<Opening> {
    const _id = recordId(tenant_id, caller_id, key);
    const fresh = this.#newRecord({ _id, tenant_id, caller_id, fingerprint }, lease);
    if (await this.#insert(fresh)) return run(fresh);
    const known = await this.#options.records.findOne(tenant_id, { _id });
    // Without one it was freed, or another request was first: look again.
    return (known && (await this.#settle(known, fresh, key))) ?? { outcome: "wait" };
  }

  /** Stores an answer, frees the key, or allows the same request to run again, depending on the answer's status. */
  async close(params: CloseParams): Promise<void> {
    const { tenant_id, caller_id, key, lease, answer, again } = params;
    const { records } = this.#options;
    const _id = recordId(tenant_id, caller_id, key);
    const mine = { _id, lease };
    const fate = again ? "reopen" : decideFate(answer.status);
    if (fate === "free") await records.delete(tenant_id, mine);
    else if (fate === "reopen")
      await records.update(tenant_id, mine, { $set: { lease_ends_at: new Date(0) } });
    else await records.update(tenant_id, mine, { $set: this.#kept(params, _id) });
  }

  #leaseFrom(lease: string, now: number) {
    return { lease, lease_ends_at: new Date(now + this.#leaseMs) };
  }

  #newRecord(
    known: Pick<IdempotencyDoc, "_id" | "tenant_id" | "caller_id" | "fingerprint">,
    lease: string,
  ): IdempotencyDoc {
    const { secrets, store } = this.#options;
    const now = store.now();
    const fresh = { answered_at: null, answer: null, resource_id: null, expires_at: new Date(now + KEPT_MS) };
    return { ...known, nonce: secrets.newSeed(newUuid()), ...this.#leaseFrom(lease, now), ...fresh };
  }

  /** Whether the key was free and is now held by this record. */
  async #insert(record: IdempotencyDoc): Promise<boolean> {
    return (await this.#options.records.insert(record).catch(nullIfTaken)) !== null;
  }

  /** Returns the result for a key in use; null to look again. */
  async #settle(known: IdempotencyDoc, fresh: IdempotencyDoc, key: string): Promise<Opening | null> {
    const now = this.#options.store.now();
    // Repeated because the first answer was lost.
    if (known.lease === fresh.lease && known.answered_at === null) return run(known);
    switch (judge(known, fresh.fingerprint, now, this.#isOrphaned(known))) {
      case "begin": {
        const { _id, tenant_id, ...fields } = fresh;
        return runIf(await this.#replace(known, fields));
      }
      case "take_over":
        return runIf(await this.#replace(known, this.#leaseFrom(fresh.lease, now)));
      case "wait": {
        await pause(Math.min(LOOK_MS, known.lease_ends_at.getTime() - now));
        return null;
      }
      case "replay":
        return { outcome: "replay", answer: JSON.parse(this.#opened(known)) };
      case "answered":
        throw keyConflict(
          key,
          known,
          "was used by a request that has completed, whose response is no longer kept. Use a new key to repeat it",
        );
      case "other_request":
        throw keyConflict(key, known, "was used for another request. Use a new key for each request");
    }
  }

  /** An embedded store has one process at a time: another process's lease is orphaned. */
  #isOrphaned({ lease }: IdempotencyDoc): boolean {
    return this.#options.store.driver === "sqlite" && !lease.startsWith(PROCESS);
  }

  /** Replaces an expired record or takes over its lease; returns null if another request was first. */
  #replace(
    { tenant_id, _id, lease, lease_ends_at, answered_at }: IdempotencyDoc,
    fields: Partial<IdempotencyDoc>,
  ) {
    const known = { _id, lease, lease_ends_at, answered_at };
    const update = { $set: fields, $unset: { secret_ends_at: 1, answer_blob: 1 } } as const;
    return this.#options.records.update(tenant_id, known, update);
  }

  #opened({ _id, answer, secret_ends_at }: IdempotencyDoc): string {
    if (!secret_ends_at) return answer as string;
    return this.#options.secrets.open(answer as Sealed, answerPlace(_id));
  }

  #kept({ tenant_id, caller_id, answer, secret }: CloseParams, _id: string): Partial<IdempotencyDoc> {
    const { store, secrets, erased } = this.#options;
    const now = store.now();
    const text = JSON.stringify(answer);
    const fields = { answered_at: new Date(now), resource_id: readResourceId(answer) };
    if (answer.dropped || text.length > MAX_ANSWER_CHARACTERS) return { ...fields, answer: null };
    if (erased.mayBeIn(tenant_id, caller_id, answer, text)) return { ...fields, answer: null };
    const blob = answer.blob ?? answer.insert?.hash;
    if (!secret) return { ...fields, answer: text, ...(blob && { answer_blob: blob }) };
    return {
      ...fields,
      answer: secrets.seal(text, answerPlace(_id)),
      secret_ends_at: new Date(now + SECRET_MS),
    };
  }
}

function run({ _id, lease, nonce, expires_at }: IdempotencyDoc): Opening {
  return { outcome: "run", lease, seed: `${_id}.${nonce}`, first_at: expires_at.getTime() - KEPT_MS };
}

const runIf = (record: IdempotencyDoc | null) => record && run(record);

function keyConflict(idempotency_key: string, { resource_id }: IdempotencyDoc, what: string): Fault {
  const details = { idempotency_key, existing_resource_id: resource_id };
  return conflict(`This Idempotency-Key ${what}.`, details);
}

/** Handling of a request whose key is known. */
type Verdict =
  /** The key has expired and is free again. */
  | "begin"
  /** The holder has failed or gone: execute the request again with the same seed. */
  | "take_over"
  | "wait"
  | "replay"
  /** Executed, but the answer was not stored: it held a secret, was too large, or there was no space. */
  | "answered"
  | "other_request";

/** @param orphaned whether the lease's holder is known to be gone */
export function judge(doc: IdempotencyDoc, fingerprint: string, now: number, orphaned: boolean): Verdict {
  if (doc.expires_at.getTime() <= now) return "begin";
  if (doc.fingerprint !== fingerprint) return "other_request";
  if (doc.answered_at === null) {
    return !orphaned && doc.lease_ends_at.getTime() > now ? "wait" : "take_over";
  }
  const secretGone = doc.secret_ends_at !== undefined && doc.secret_ends_at.getTime() <= now;
  return doc.answer === null || secretGone ? "answered" : "replay";
}

/** Returns how to treat a key by its answer's status (api.md "Everywhere"): 401, 429 and 5xx are never stored. */
export function decideFate(status: number): "free" | "reopen" | "keep" {
  // Refused before any change: the key was not used.
  if (status === 401 || status === 429) return "free";
  // Changes are possible: only the same request may continue.
  return status >= 500 ? "reopen" : "keep";
}

/** Hashes a key's identity with its parts separated, so that ("a", "bc") differs from ("ab", "c"). */
export function recordId(tenant_id: string, caller_id: string, key: string): string {
  return createHash("sha256")
    .update(JSON.stringify([tenant_id, caller_id, key]))
    .digest("base64url");
}

/** Returns the id of the created resource, to name in a conflict; null if a blob holds it. */
export function readResourceId({ body, base64 }: KeptAnswer): string | null {
  if (body === null || base64 || !body.startsWith("{")) return null;
  const { id, event_id, document_id } = JSON.parse(body) as Record<string, unknown>;
  const value = id ?? event_id ?? document_id;
  return typeof value === "string" ? value : null;
}
