import { createHash, createHmac } from "node:crypto";
import { type Claim, SCHEMES, type Scheme, type SchemeName, type SignedRequest } from "./webhook-schemes.ts";

export interface Signature {
  scheme: SchemeName;
  /** The delivery's id, if the signature covers it. */
  id: string | null;
  /** Hash of the content that was signed: the same for requests that the signature does not tell apart. */
  digest: string;
}

export type Verdict = { signature: Signature } | { refused: string };

/**
 * Verifies a request with the secrets of one registration after another. It is read once for each scheme that one of
 * them accepts, so that registrations cost no more than a hash of the content for each secret: for Twilio, one for each
 * address.
 */
export class SignatureCheck {
  readonly #request: SignedRequest;
  readonly #now: number;
  readonly #given: readonly Scheme[];
  readonly #claims = new Map<SchemeName, Claim | string>();

  /** @param now Milliseconds since the epoch. */
  constructor(request: SignedRequest, now: number) {
    this.#request = request;
    this.#now = now;
    this.#given = SCHEMES.filter(({ header }) => request.headers[header.toLowerCase()] !== undefined);
  }

  /**
   * Verifies the first scheme whose header the request has.
   *
   * @param accepted Names of the schemes that count. Default: all.
   * @returns the signature, or why there is none, in words that contain nothing of the request
   */
  verify(secrets: readonly string[], accepted?: readonly SchemeName[]): Verdict {
    const scheme = this.#given.find(({ name }) => !accepted || accepted.includes(name));
    if (!scheme) {
      this.#hash(secrets);
      const wanted = SCHEMES.filter(({ name }) => accepted?.includes(name)).map(({ header }) => header);
      return { refused: wanted.length ? `no ${wanted.join(" or ")} header` : "no signature" };
    }
    const claim = this.#read(scheme);
    if (typeof claim === "string") return { refused: claim };
    const contents = secrets.map((secret) => claim.signedBy(secret));
    const content = contents.find((each) => each !== null);
    if (!content) return { refused: mismatch(scheme.name) };
    const refused = claim.refuses?.() ?? null;
    if (refused !== null) return { refused };
    const hash = createHash("sha256");
    for (const part of content) hash.update(part);
    const digest = `sha256:${hash.digest("hex")}`;
    return { signature: { scheme: scheme.name, id: claim.id ?? null, digest } };
  }

  /** Takes the time of a comparison: how long a refusal takes must not show which addresses exist. */
  #hash(secrets: readonly string[]): void {
    if (this.#given.length === 0) return;
    for (const secret of secrets) createHmac("sha256", secret).update(this.#request.body).digest();
  }

  #read(scheme: Scheme): Claim | string {
    const claim = this.#claims.get(scheme.name) ?? scheme.read(this.#request, this.#now);
    this.#claims.set(scheme.name, claim);
    return claim;
  }
}

function mismatch(scheme: SchemeName): string {
  return scheme === "gitlab_token" ? "token does not match" : "signature does not match";
}
