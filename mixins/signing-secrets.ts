import { notFound } from "../lib/contract/faults.ts";
import type { SecretBox, SigningSecret } from "../lib/crypto/secrets.ts";
import type { TenantCollection, TenantDocument } from "../storage/collection.ts";
import { guardedWrite } from "./guarded-write.ts";

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

/** Creates a secret in the form of Standard Webhooks; the same seed gives the same secret. */
export function newSigningSecret(secrets: SecretBox, seed?: string): string {
  return `whsec_${secrets.random(SECRET_BYTES, "signing-secret", seed).toString("base64")}`;
}

/** @param owner its kind and id: `agents/ag_1`. */
export function sealSigningSecret(secrets: SecretBox, owner: string, secret: string): SigningSecret {
  return { sealed: secrets.seal(secret, place(owner)), ends_at: null };
}

/** Returns the secrets valid at a time, in plain text, newest first. */
export function secretsAt(
  secrets: SecretBox,
  owner: string,
  signing_secrets: SigningSecret[],
  now: number,
): string[] {
  return signing_secrets
    .filter(({ ends_at }) => ends_at === null || ends_at.getTime() > now)
    .map(({ sealed }) => secrets.open(sealed, place(owner)));
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
 * Adds a new secret. Of the older ones only the newest stays valid, for 24 hours. With a seed, a retry of the same
 * request finds its secret.
 *
 * @returns the secret, and until when the previous one stays valid.
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
    const [newest, previous] = row.signing_secrets as [SigningSecret, SigningSecret?];
    if (seed && previous?.ends_at && secrets.open(newest.sealed, place(owner)) === secret) {
      return { signing_secret: secret, previous_ends_at: previous.ends_at.toISOString() };
    }
    const previous_ends_at = new Date(now + OVERLAP_MS);
    const next = [sealSigningSecret(secrets, owner, secret), { ...newest, ends_at: previous_ends_at }];
    const changed = await rows.update(
      tenant_id,
      { _id: id, signing_version: row.signing_version },
      { $set: { signing_secrets: next, updated_at: new Date(now) }, $inc: { signing_version: 1 } },
    );
    return changed && { signing_secret: secret, previous_ends_at: previous_ends_at.toISOString() };
  }, "The signing secret is being changed concurrently. Retry.");
}

function place(owner: string): string {
  return `${owner}/signing`;
}
