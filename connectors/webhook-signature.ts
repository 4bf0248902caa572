import { SCHEMES, type SchemeName, type SignedRequest } from "./webhook-schemes.ts";

/** A valid signature. */
export interface Signature {
  scheme: SchemeName;
  /** The delivery's id, if the signature covers it. */
  id: string | null;
}

export type Verdict = { signature: Signature } | { refused: string };

/**
 * Verifies a request with each of the secrets, under the first scheme whose header it carries. Takes constant time per
 * secret and hashes the body once for each; for Twilio once for each address.
 *
 * @param now Milliseconds since the epoch.
 * @param accepted Names of the schemes that count. Default: all.
 * @returns the signature, or why there is none, in words that contain nothing of the request
 */
export function verify(
  request: SignedRequest,
  secrets: readonly string[],
  now: number,
  accepted?: readonly SchemeName[],
): Verdict {
  const wanted = SCHEMES.filter(({ name }) => !accepted || accepted.includes(name));
  const given = ({ header }: { header: string }) => request.headers[header.toLowerCase()] !== undefined;
  const missing = accepted ? `no ${wanted.map(({ header }) => header).join(" or ")} header` : "no signature";
  const known = wanted.find(given);
  // Another scheme is verified all the same: how long a refusal takes must not show which addresses exist.
  const scheme = known ?? SCHEMES.find(given);
  if (!scheme) return { refused: missing };
  const claim = scheme.read(request, now);
  if (typeof claim === "string") return { refused: known ? claim : missing };
  const matches = secrets.some((secret) => claim.matches(secret));
  if (!known) return { refused: missing };
  if (!matches) return { refused: mismatch(scheme.name) };
  const refused = claim.refuses?.() ?? null;
  return refused === null ? { signature: { scheme: scheme.name, id: claim.id ?? null } } : { refused };
}

function mismatch(scheme: SchemeName): string {
  return scheme === "gitlab_token" ? "token does not match" : "signature does not match";
}
