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

/**
 * Verifies a request with the secrets of one registration after another. It is read once for each scheme that one of
 * them accepts, so that registrations cost no more than a hash of the content for each secret: for Twilio, one for each
 * address.
 */
export class SignatureCheck {
  readonly #request: SignedRequest;
  readonly #now: number;
  readonly #isSigned: boolean;
  readonly #claims = new Map<Scheme, Claim | string>();

  /** @param now Milliseconds since the epoch. */
  constructor(request: SignedRequest, now: number) {
    this.#request = request;
    this.#now = now;
    this.#isSigned = SCHEMES.some((scheme) => this.#has(scheme));
  }

  /** Verifies the first accepted scheme whose header the request has. A refusal contains nothing of the request. */
  verify(secrets: readonly string[], accepted?: readonly Scheme[]): Verdict {
    const scheme = (accepted ?? SCHEMES).find((each) => each.header === null || this.#has(each));
    if (!scheme) {
      this.#hash(secrets);
      const wanted = accepted?.map(({ header }) => header);
      return { refused: wanted?.length ? `no ${wanted.join(" or ")} header` : "no signature" };
    }
    const claim = this.#read(scheme);
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
  }

  /** Takes the time of a comparison: how long a refusal takes must not show which addresses exist. */
  #hash(secrets: readonly string[]): void {
    if (!this.#isSigned) return;
    for (const secret of secrets) createHmac("sha256", secret).update(this.#request.body).digest();
  }

  #read(scheme: Scheme): Claim | string {
    const claim = this.#claims.get(scheme) ?? scheme.read(this.#request, this.#now);
    this.#claims.set(scheme, claim);
    return claim;
  }

  #has({ header }: Scheme): boolean {
    return header !== null && this.#request.headers[header.toLowerCase()] !== undefined;
  }
}
