import type { Call } from "../../../lib/access/caller.ts";
import { Fault } from "../../../lib/contract/faults.ts";
import { newUuid } from "../../../lib/ids.ts";
import { HOUR_MS } from "../../../lib/time.ts";
import { onEveryNode } from "../../../mixins/every-node.ts";
import { isDuplicateKey } from "../../../storage/collection.ts";
import { event, idempotent, type ServiceFactory } from "../../runtime.ts";
import { dropAnswers } from "./drop-answers.ts";
import { ErasedLately } from "./erased-lately.ts";
import { type IdempotencyDoc, IdempotencyModel, type KeptAnswer } from "./idempotency.model.ts";
import { isOurs, newLease, stillRunning } from "./lease.ts";
import { fateOf, judge, recordId, resourceIdOf } from "./record.ts";
import { sweep } from "./sweep.ts";
import { Waiters } from "./waiters.ts";

const LEASE_SECONDS = 30;
/** An hour more than promised, so that clocks need not agree. */
const KEPT_MS = 25 * HOUR_MS;
const SECRET_MS = 10 * 60_000;
/** A waiting request looks again this often: the first may run on another node. */
const LOOK_MS = 250;
/** Who asks and has gone meanwhile must not take a key over: nobody would carry its request out. */
const LONGEST_WAIT_MS = 2000;
const SWEEP_MS = 60_000;
// The gateway hands larger ones over as blobs, but not those with a secret: repeating one is a conflict.
const MAX_ANSWER_CHARACTERS = 1_048_576;

/** Where a key stands: it is the caller's own. */
export interface Place {
  tenant_id: string;
  caller_id: string;
  key: string;
}

/**
 * What `idempotency.open` answers: carry the request out under this lease and seed, give this answer, or ask again,
 * as somebody else is carrying it out.
 */
export type Opening =
  | { outcome: "run"; lease: string; seed: string }
  | { outcome: "replay"; answer: KeptAnswer }
  | { outcome: "wait" };

/** `lease`: what the request is to hold the key by. Gateways of before give none, and are not told to ask again. */
type OpenParams = Place & { fingerprint: string; lease?: string };
type Erased = { tenant_id: string; ids: string[] };
/** `again`: whatever the answer, the same request is to be carried out when it comes again. */
type CloseParams = Place & { lease: string; answer: KeptAnswer; secret: boolean; again?: boolean };

/** Keeps what was answered to each Idempotency-Key (api.md "Everywhere"). Its only caller is the gateway. */
export const idempotencyService: ServiceFactory = ({ config, store, secrets }) => {
  const records = store.collection(IdempotencyModel);
  const waiters = new Waiters();
  const erased = new ErasedLately(() => performance.now());
  const requestMs = config.REQUEST_TIMEOUT_SECONDS * 1000;
  const leaseMs = Math.max(LEASE_SECONDS * 1000, requestMs);
  let stopping = false;
  let timer: NodeJS.Timeout;

  const leaseFrom = (lease: string, now: number) => ({ lease, lease_ends_at: new Date(now + leaseMs) });

  /** An embedded store has one process at a time: a lease of another is one that died. */
  const isOrphaned = ({ lease }: IdempotencyDoc) => store.driver === "sqlite" && !isOurs(lease);

  const newRecord = (_id: string, tenant_id: string, fingerprint: string, lease: string): IdempotencyDoc => {
    const now = store.now();
    const fresh = { answered_at: null, answer: null, resource_id: null, expires_at: new Date(now + KEPT_MS) };
    return { _id, tenant_id, fingerprint, nonce: newUuid(), ...leaseFrom(lease, now), ...fresh };
  };

  /** Whether the key was free, and is now this record's. */
  const inserted = (record: IdempotencyDoc): Promise<boolean> =>
    records.insert(record).then(
      () => true,
      (err) => {
        if (isDuplicateKey(err)) return false;
        throw err;
      },
    );

  /** Replaces a record whose time is over, or takes over its lease; null when somebody else was first. */
  const replace = ({ tenant_id, ...known }: IdempotencyDoc, fields: Partial<IdempotencyDoc>) =>
    records.update(
      tenant_id,
      {
        _id: known._id,
        lease: known.lease,
        lease_ends_at: known.lease_ends_at,
        answered_at: known.answered_at,
      },
      { $set: fields, $unset: { secret_ends_at: 1, answer_blob: 1 } },
    );

  async function open({ tenant_id, caller_id, key, fingerprint, lease }: OpenParams): Promise<Opening> {
    const _id = recordId(tenant_id, caller_id, key);
    const until = performance.now() + (lease ? Math.min(LONGEST_WAIT_MS, requestMs / 2) : 2 * leaseMs);
    for (;;) {
      const fresh = newRecord(_id, tenant_id, fingerprint, lease ?? newLease());
      if (await inserted(fresh)) return run(fresh);
      const known = await records.findOne(tenant_id, { _id });
      const opening = known && (await settle(known, fresh, key));
      if (opening) return opening;
      if (!stopping && performance.now() < until) continue;
      if (stopping || !lease) throw stillRunning();
      return { outcome: "wait" };
    }
  }

  /** What follows for a key that is in use; null to look again. */
  async function settle(known: IdempotencyDoc, fresh: IdempotencyDoc, key: string): Promise<Opening | null> {
    const now = store.now();
    // Asked again, because the first answer was lost.
    if (known.lease === fresh.lease && known.answered_at === null) return run(known);
    switch (judge(known, fresh.fingerprint, now, isOrphaned(known))) {
      case "begin": {
        const { _id, tenant_id, ...fields } = fresh;
        return runIf(await replace(known, fields));
      }
      case "take_over":
        return runIf(await replace(known, leaseFrom(fresh.lease, now)));
      case "wait":
        await waiters.wait(known._id, Math.min(LOOK_MS, known.lease_ends_at.getTime() - now));
        return null;
      case "replay":
        return { outcome: "replay", answer: JSON.parse(opened(known)) };
      case "answered":
        throw conflict(key, known, "was carried out already, and its answer is no longer kept");
      case "other_request":
        throw conflict(key, known, "was used for another request");
    }
  }

  const opened = ({ _id, answer, secret_ends_at }: IdempotencyDoc) =>
    secret_ends_at ? secrets.open(answer as string, placeOf(_id)) : (answer as string);

  async function close(ctx: Call<CloseParams>): Promise<void> {
    const { tenant_id, caller_id, key, lease, answer, again } = ctx.params;
    const _id = recordId(tenant_id, caller_id, key);
    const mine = { _id, lease };
    const fate = again ? "reopen" : fateOf(answer.status);
    if (fate === "free") await records.delete(tenant_id, mine);
    else if (fate === "reopen")
      await records.update(tenant_id, mine, { $set: { lease_ends_at: new Date(0) } });
    else await records.update(tenant_id, mine, { $set: await kept(ctx, _id) });
    waiters.wake(_id);
  }

  async function kept(ctx: Call<CloseParams>, _id: string): Promise<Partial<IdempotencyDoc>> {
    const { tenant_id, answer, secret } = ctx.params;
    const now = store.now();
    const text = JSON.stringify(answer);
    const fields = { answered_at: new Date(now), resource_id: resourceIdOf(answer) };
    if (answer.dropped || text.length > MAX_ANSWER_CHARACTERS) return { ...fields, answer: null };
    if (erased.mayBeIn(tenant_id, answer, text)) {
      if (answer.blob) await ctx.call("blobs.erase", { tenant_id, hashes: [answer.blob] });
      return { ...fields, answer: null };
    }
    const blob = answer.blob ?? answer.insert?.hash;
    if (!secret) return { ...fields, answer: text, ...(blob && { answer_blob: blob }) };
    return { ...fields, answer: secrets.seal(text, placeOf(_id)), secret_ends_at: new Date(now + SECRET_MS) };
  }

  return {
    name: "idempotency",
    actions: {
      /** May wait for the first request with the key, and then still has to be answered. */
      open: {
        ...idempotent<OpenParams>((ctx) => open(ctx.params)),
        timeout: 2 * leaseMs + requestMs,
      },
      close: idempotent<CloseParams>(close),

      /** Drops the answers that name any of these: repeating such a request is a conflict then. */
      erase: idempotent<Erased>(async (ctx) => {
        const { tenant_id, ids } = ctx.params;
        // First, so that no answer with them is kept behind the search for those that are.
        await onEveryNode(ctx.broker, "idempotency.note_erased", ctx.params);
        const eraseBlobs = (hashes: string[]) => ctx.call("blobs.erase", { tenant_id, hashes });
        await dropAnswers(records, tenant_id, new Set(ids), eraseBlobs);
      }),

      /** Keeps no answer from here on that names any of these. */
      note_erased: idempotent<Erased>(({ params }) => erased.add(params.tenant_id, params.ids)),

      blob_references: idempotent<{ tenant_id: string; hashes: string[] }>(async ({ params }) => {
        const due = {
          ...{ answer_blob: { $in: params.hashes }, answer: { $ne: null } },
          expires_at: { $gt: new Date(store.now()) },
        };
        const found = await records.find(params.tenant_id, due, { projection: { answer_blob: 1 } });
        return found.map(({ answer_blob }) => answer_blob);
      }),
    },
    events: {
      "node.stopping": event(() => {
        stopping = true;
        waiters.wakeAll();
      }),
    },
    started() {
      timer = setInterval(() => {
        sweep(records, store.now()).catch((err) =>
          this.logger.warn({ err }, "sweep of idempotency keys failed"),
        );
      }, SWEEP_MS);
    },
    stopped() {
      clearInterval(timer);
    },
  };
};

function run({ _id, lease, nonce }: IdempotencyDoc): Opening {
  return { outcome: "run", lease, seed: `${_id}.${nonce}` };
}

const runIf = (record: IdempotencyDoc | null) => record && run(record);

const placeOf = (_id: string) => `idempotency/${_id}`;

function conflict(idempotency_key: string, { resource_id }: IdempotencyDoc, what: string): Fault {
  const details = { idempotency_key, existing_resource_id: resource_id };
  return new Fault("conflict", `This Idempotency-Key ${what}.`, details);
}
