import { Fault, notFound } from "../../lib/faults.ts";
import type { SecretBox } from "../../lib/secrets.ts";
import type { TenantCollection } from "../../storage/collection.ts";
import type { AgentDoc, SigningSecret } from "./agents.model.ts";

const SECRET_BYTES = 32;
const OVERLAP_MS = 24 * 60 * 60 * 1000;
const ATTEMPTS = 5;

/** A new secret in the form of Standard Webhooks; the same one again for the same seed. */
export function newSigningSecret(secrets: SecretBox, seed?: string): string {
  return `whsec_${secrets.random(SECRET_BYTES, "signing-secret", seed).toString("base64")}`;
}

export function sealSigningSecret(secrets: SecretBox, agent_id: string, secret: string): SigningSecret {
  return { sealed: secrets.seal(secret, place(agent_id)), ends_at: null };
}

/** The secrets that sign at a time, in plain text, newest first. */
export function secretsAt(secrets: SecretBox, agent: AgentDoc, now: number): string[] {
  return agent.signing_secrets
    .filter(({ ends_at }) => ends_at === null || ends_at.getTime() > now)
    .map(({ sealed }) => secrets.open(sealed, place(agent._id)));
}

/**
 * Puts a new secret before the others, of which only the newest goes on signing, for 24 hours. With a seed, a second
 * try of the same request finds its secret there already.
 *
 * @returns the secret, and until when the previous one signs too.
 */
export async function rotate(
  agents: TenantCollection<AgentDoc>,
  secrets: SecretBox,
  now: number,
  target: { tenant_id: string; agent_id: string; seed?: string | undefined },
): Promise<{ secret: string; previous_ends_at: Date }> {
  const { tenant_id, agent_id, seed } = target;
  const secret = newSigningSecret(secrets, seed);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const agent = await agents.findOne(tenant_id, { _id: agent_id });
    if (!agent) throw notFound("agent", agent_id);
    const [newest, previous] = agent.signing_secrets as [SigningSecret, SigningSecret?];
    if (seed && previous?.ends_at && secrets.open(newest.sealed, place(agent_id)) === secret) {
      return { secret, previous_ends_at: previous.ends_at };
    }
    const previous_ends_at = new Date(now + OVERLAP_MS);
    const next = [sealSigningSecret(secrets, agent_id, secret), { ...newest, ends_at: previous_ends_at }];
    const changed = await agents.update(
      tenant_id,
      { _id: agent_id, signing_version: agent.signing_version },
      { $set: { signing_secrets: next, updated_at: new Date(now) }, $inc: { signing_version: 1 } },
    );
    if (changed) return { secret, previous_ends_at };
  }
  throw new Fault("conflict", "The signing secret is being changed by others; try again.");
}

function place(agent_id: string): string {
  return `agents/${agent_id}/signing`;
}
