import { createPublicKey, type KeyObject } from "node:crypto";
import { type SigningKey, toJwk } from "../../services/identity/auth/signing-keys.ts";

/** One key that signs and verifies at any time. */
export function onlyKey(privateKey: KeyObject) {
  const publicKey = createPublicKey(privateKey);
  const times = { signs_at: 0, ends_at: null };
  const key: SigningKey = { _id: "key", jwk: toJwk(publicKey), privateKey, publicKey, ...times };
  return { signer: () => key, verifier: (kid: string | undefined) => (kid === key.jwk.kid ? key : null) };
}
