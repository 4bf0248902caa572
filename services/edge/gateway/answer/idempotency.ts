import { createHash } from "node:crypto";
import { callerId } from "../../../../lib/access/caller.ts";
import { isUnreached } from "../../../../lib/broker/between-nodes.ts";
import { honoursKey } from "../../../../lib/contract/contract.ts";
import { Fault, isFault, type Rule, unavailable } from "../../../../lib/contract/faults.ts";
import type { Blobs, BlobWrite } from "../../../../storage/blobs/blobs.ts";
import { INSTALLATION } from "../../../../storage/model.ts";
import type { Runtime } from "../../../runtime.ts";
import type { KeptAnswer } from "../../idempotency/idempotency.model.ts";
import { type IdempotencyKey, newLease, type Opening } from "../../idempotency/keys.ts";
import { follow, maxBodyOf, readAhead } from "../body/body.ts";
import { readByReference } from "../body/by-reference.ts";
import { type Answer, blobWriteOf, type HttpExchange } from "../http-exchange.ts";
import { errorAnswer } from "./respond.ts";

const MAX_KEY_CHARACTERS = 255;
/** Larger bodies are stored as blobs: calls between nodes must stay short. */
const LARGE = 262_144;
/** A tenant over its quota, and a claim, whose answers could fill the disk, get only short answers stored. */
const SMALL = 1024;

type OpenRequest = IdempotencyKey & { fingerprint: string; lease: string };
type Begun = Exclude<Opening, { outcome: "wait" }>;

/** Returns the owner of a request's keys; null if the sender is unknown. */
function holderOf({ op, caller }: HttpExchange): Omit<IdempotencyKey, "key"> | null {
  if (caller) return { tenant_id: caller.tenant_id, caller_id: callerId(caller) };
  // The operator has no tenant: its keys belong to the installation.
  return op.access.by === "operator" ? { tenant_id: INSTALLATION, caller_id: "operator" } : null;
}

/** Returns the request's Idempotency-Key if it applies: for changes, by a known caller. */
export function idempotencyKey(exchange: HttpExchange): string | null {
  const { req, op } = exchange;
  const key = req.headers["idempotency-key"] as string | undefined;
  if (key === undefined || !honoursKey(op) || !holderOf(exchange)) return null;
  if (key.length > 0 && key.length <= MAX_KEY_CHARACTERS) return key;
  const expected = `1 to ${MAX_KEY_CHARACTERS} characters`;
  throw new Fault(
    "validation_failed",
    `Idempotency-Key has ${key.length} characters: expected ${expected}.`,
    {
      field: "Idempotency-Key",
      value: key.slice(0, 20),
      expected,
      example: "order-1842-created",
    },
  );
}

/**
 * Executes a request once for its key: a repetition gets the first one's answer, and waits if the first is still
 * running (api.md "Everywhere"). @throws Fault conflict if the key was used for another request.
 */
export async function once(
  exchange: HttpExchange,
  key: string,
  { runtime: { blobs, usage }, ending }: { runtime: Pick<Runtime, "blobs" | "usage">; ending: AbortSignal },
  carryOut: () => Promise<Answer>,
): Promise<Answer> {
  const { ctx, op, request_id } = exchange;
  const place: IdempotencyKey = { ...(holderOf(exchange) as Omit<IdempotencyKey, "key">), key };
  const fingerprint = await fingerprintOf(exchange, blobs);
  const opening = await open(exchange, ending, { ...place, fingerprint, lease: newLease() });
  if (opening.outcome === "replay") return replayed(opening.answer, place.tenant_id, blobs);

  const { lease, seed, first_at } = opening;
  const close = async (outcome: Answer, secret: boolean, again: { again?: true } = {}) => {
    const isFull = (op.takes || usage.isFull(place.tenant_id)) && lengthOf(outcome) > SMALL;
    const answer = secret
      ? toKept(outcome)
      : isFull
        ? null
        : await toKeptOrBlob(outcome, blobWriteOf(exchange, place.tenant_id), blobs);
    // Answer the executed request even if the answer cannot be stored: repeating it is a conflict then.
    const kept = answer ?? { ...toKept({ ...outcome, body: null }), dropped: true };
    await ctx.call("idempotency.close", { ...place, lease, answer: kept, secret, ...again });
  };
  Object.assign(ctx.meta, { idempotency_seed: seed, first_at });
  try {
    const answer = await carryOut();
    await close(answer, op.secret === true);
    return answer;
  } catch (err) {
    await close(errorAnswer(err, request_id), false, isOverQuota(err) ? { again: true } : {});
    throw err;
  }
}

/** Waits while the first request with the key is running, its sender is connected and the node does not stop. */
async function open(
  { ctx, res, request_id }: HttpExchange,
  ending: AbortSignal,
  request: OpenRequest,
): Promise<Begun> {
  try {
    for (;;) {
      const opening = await ctx.call<Opening>("idempotency.open", request);
      if (opening.outcome !== "wait") return opening;
      if (res.destroyed || ending.aborted)
        throw unavailable("The first request with this Idempotency-Key is still in progress. Retry in 1 s.");
    }
  } catch (err) {
    if (!isUnreached(err)) throw err;
    // It may hold the key with nobody to execute the request. If this fails too, its lease expires.
    const { fingerprint: _, ...held } = request;
    const answer = toKept(errorAnswer(err, request_id));
    ctx.call("idempotency.close", { ...held, answer, secret: false }).catch(() => {});
    throw err;
  }
}

function toKept({ body, headers = {}, again: _, ...rest }: Answer): KeptAnswer {
  const base64 = Buffer.isBuffer(body);
  return { ...rest, body: base64 ? body.toString("base64") : body, base64, headers };
}

const lengthOf = ({ body }: Answer) => body?.length ?? 0;

/** The same request is executed once there is space again. */
function isOverQuota(err: unknown): boolean {
  return isFault(err) && (err.data as { rule?: Rule } | undefined)?.rule === "storage_quota";
}

/** Returns null if there is no space for a large answer. */
async function toKeptOrBlob(answer: Answer, write: BlobWrite, blobs: Blobs): Promise<KeptAnswer | null> {
  const { body } = answer;
  if (body === null || answer.insert || body.length <= LARGE) return toKept(answer);
  const put = blobs.put(write, Buffer.isBuffer(body) ? body : Buffer.from(body));
  const ref = await put.catch(() => null);
  return ref && { ...toKept({ ...answer, body: null }), blob: ref.hash };
}

async function replayed(kept: KeptAnswer, tenant_id: string, blobs: Blobs): Promise<Answer> {
  const { status, type, headers, insert } = kept;
  const body = kept.blob === undefined ? bodyOf(kept) : await blobs.get(tenant_id, kept.blob);
  const answer = { status, type, body, headers: { ...headers, "Idempotency-Replayed": "true" } };
  return insert ? { ...answer, insert } : answer;
}

const bodyOf = ({ body, base64 }: KeptAnswer) => (base64 ? Buffer.from(body as string, "base64") : body);

/** Hashes the identity of a request: method, path with its query, and the bytes of the body. */
async function fingerprintOf(exchange: HttpExchange, blobs: Blobs): Promise<string> {
  const { req, op, caller } = exchange;
  const hash = createHash("sha256").update(`${op.method} ${req.url}\n`);
  // In binary mode a CloudEvent's attributes are headers: they belong to the request like its body.
  if (op.consumes === "cloudevents") hash.update(JSON.stringify(attributesOf(req.headers)));
  follow(req, hash);
  if (op.byReference && caller) await readByReference(exchange, caller.tenant_id, blobs);
  else await readAhead(req, maxBodyOf(op));
  return hash.digest("base64url");
}

function attributesOf(headers: NodeJS.Dict<string | string[]>): [string, unknown][] {
  const names = Object.keys(headers).filter((name) => name.startsWith("ce-"));
  // In binary mode the content type, that of the data, is an attribute too.
  if (names.length > 0 && headers["content-type"] !== undefined) names.push("content-type");
  return names.sort().map((name) => [name, headers[name]]);
}
