import { type Fault, notFound, ruleBroken } from "../../../lib/contract/faults.ts";
import { type SecretBox, type SigningSecret, signingPlace } from "../../../lib/crypto/secrets.ts";
import type { TenantCollection, TenantDocument } from "../../../storage/collection.ts";
import { guardedWrite } from "../../../storage/writes.ts";

/** A row with its own signing secrets. */
export interface Signed extends TenantDocument {
  /** Newest first. */
  signing_secrets: SigningSecret[];
  /** Counts rotations and guards against concurrent ones. */
  signing_version: number;
  updated_at: Date;
}

const SECRET_BYTES = 32;
const OVERLAP_MS = 24 * 60 * 60 * 1000;
/** Secrets kept, the newest included: each costs a hash for every request that none of them signed. */
const MOST_SECRETS = 6;

/** Creates a secret in the form of Standard Webhooks; the same seed gives the same secret. */
export function newSigningSecret(secrets: SecretBox, seed?: string): string {
  return `whsec_${secrets.random(SECRET_BYTES, "signing-secret", seed).toString("base64")}`;
}

/** @param owner its kind and id: `agents/ag_1`. */
export function sealSigningSecret(secrets: SecretBox, owner: string, secret: string): SigningSecret {
  return { sealed: secrets.seal(secret, signingPlace(owner)), ends_at: null };
}

/** Returns the secrets valid at a time, in plain text, newest first. */
export function secretsAt(
  secrets: SecretBox,
  owner: string,
  signing_secrets: SigningSecret[],
  now: number,
): string[] {
  return signing_secrets
    .filter((each) => !hasEnded(each, now))
    .map(({ sealed }) => secrets.open(sealed, signingPlace(owner)));
}

/** Returns the secrets that are no longer valid but still known, in plain text, the last one first. */
export function endedSecrets(
  secrets: SecretBox,
  owner: string,
  signing_secrets: SigningSecret[],
  now: number,
): { secret: string; ended_at: Date }[] {
  return signing_secrets.flatMap(({ sealed, ends_at }) =>
    ends_at && hasEnded({ ends_at }, now)
      ? { secret: secrets.open(sealed, signingPlace(owner)), ended_at: ends_at }
      : [],
  );
}

function hasEnded({ ends_at }: Pick<SigningSecret, "ends_at">, now: number): boolean {
  return ends_at !== null && ends_at.getTime() <= now;
}

interface Target {
  tenant_id: string;
  id: string;
  seed?: string | undefined;
  /** The new secret, if the other side created it. */
  secret?: string | undefined;
}

/** Rows with signing secrets, and their names. */
interface SignedRows {
  rows: Pick<TenantCollection<Signed>, "findOne" | "update">;
  secrets: SecretBox;
  /** `agents`, as in `sealSigningSecret`. */
  owners: string;
  /** `agent`, as in the fault. */
  resource_type: string;
}

/**
 * Adds a new secret. Each older one stays valid for the 24 hours that began when it was replaced. With a seed, a retry
 * of the same request finds its secret.
 * @returns the secret, and until when the previous one stays valid.
 * @throws Fault business_rule_violation if a secret would end early
 */
export async function rotate(
  { rows, secrets, owners, resource_type }: SignedRows,
  now: number,
  { tenant_id, id, seed, secret = newSigningSecret(secrets, seed) }: Target,
): Promise<{ signing_secret: string; previous_ends_at: string }> {
  const owner = `${owners}/${id}`;
  return guardedWrite(async () => {
    const row = await rows.findOne(tenant_id, { _id: id });
    if (!row) throw notFound(resource_type, id);
    const [newest, ...older] = row.signing_secrets as [SigningSecret, ...SigningSecret[]];
    const [previous] = older;
    if (seed && previous?.ends_at && secrets.open(newest.sealed, signingPlace(owner)) === secret) {
      return { signing_secret: secret, previous_ends_at: previous.ends_at.toISOString() };
    }
    const previous_ends_at = new Date(now + OVERLAP_MS);
    const all = [
      sealSigningSecret(secrets, owner, secret),
      { ...newest, ends_at: previous_ends_at },
      ...older,
    ];
    const [dropped] = all.slice(MOST_SECRETS);
    if (dropped && !hasEnded(dropped, now)) throw tooManySecrets(dropped.ends_at as Date);
    const next = all.slice(0, MOST_SECRETS);
    const changed = await rows.update(
      tenant_id,
      { _id: id, signing_version: row.signing_version },
      { $set: { signing_secrets: next, updated_at: new Date(now) }, $inc: { signing_version: 1 } },
    );
    return changed && { signing_secret: secret, previous_ends_at: previous_ends_at.toISOString() };
  }, "The signing secret is being changed concurrently. Retry.");
}

function tooManySecrets(until: Date): Fault {
  const message = `${MOST_SECRETS} signing secrets are valid already, and the oldest until ${until.toISOString()}. Rotate again then.`;
  return ruleBroken("signing_secret_limit", message);
}
