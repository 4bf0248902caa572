import { createHash, createHmac } from "node:crypto";
import type { Claim, Scheme, SignedRequest } from "../lib/webhooks/schemes.ts";
import { SCHEMES } from "../lib/webhooks/senders.ts";

export interface Signature {
  scheme: string;
  /** The delivery's id, if the signature covers it. */
  id: string | null;
  /** Hash of the content that was signed: the same for requests that the signature does not tell apart. */
  digest: string;
}

/** With the secret that signed. */
export type Verdict = { signature: Signature; secret: string } | { refused: string };

type Verify = (secrets: readonly string[], accepted?: readonly Scheme[]) => Verdict;

/**
 * Returns what verifies a request with the secrets of one registration after another, by the first accepted scheme whose
 * header the request has; a refusal contains nothing of the request. It is read once for each scheme that one of them
 * accepts, so that registrations cost no more than a hash of the content for each secret: for Twilio, one for each address.
 *
 * @param now Milliseconds since the epoch.
 */
export function newVerify(request: SignedRequest, now: number): Verify {
  const claims = new Map<Scheme, Claim | string>();
  const has = ({ header }: Scheme) => header !== null && request.headers[header.toLowerCase()] !== undefined;
  const isSigned = SCHEMES.some(has);
  const read = (scheme: Scheme) => {
    const claim = claims.get(scheme) ?? scheme.read(request, now);
    claims.set(scheme, claim);
    return claim;
  };
  return (secrets, accepted) => {
    const scheme = (accepted ?? SCHEMES).find((each) => each.header === null || has(each));
    if (!scheme) {
      // Takes the time of a comparison: how long a refusal takes must not show which addresses exist.
      for (const secret of isSigned ? secrets : [])
        createHmac("sha256", secret).update(request.body).digest();
      const wanted = accepted?.map(({ header }) => header);
      return { refused: wanted?.length ? `no ${wanted.join(" or ")} header` : "no signature" };
    }
    const claim = read(scheme);
    if (typeof claim === "string") return { refused: claim };
    const contents = secrets.map((secret) => claim.signedBy(secret));
    const at = contents.findIndex((each) => each !== null);
    const content = contents[at];
    if (!content) return { refused: scheme.mismatch ?? "signature does not match" };
    const refused = claim.refuses?.() ?? null;
    if (refused !== null) return { refused };
    const hash = createHash("sha256");
    for (const part of content) hash.update(part);
    const digest = `sha256:${hash.digest("hex")}`;
    return {
      signature: { scheme: scheme.name, id: claim.id ?? null, digest },
      secret: secrets[at] as string,
    };
  };
}
