import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from "node:crypto";
import { conflict } from "../../../lib/contract/faults.ts";
import type { SecretBox } from "../../../lib/crypto/secrets.ts";
import type { Store } from "../../../storage/connection.ts";
import { INSTALLATION } from "../../../storage/model.ts";
import { type Jwk, type SigningKeyDoc, SigningKeyModel, signingKeyPlace } from "./auth.model.ts";

export const ALGORITHM = "ES256";
/** How long clients may keep the JWKS. */
export const JWKS_SECONDS = 300;
/** A new key is published this long before it signs: every copy of the JWKS, and every node, has it by then. */
const PUBLISH_MS = 2 * JWKS_SECONDS * 1000;
/** The lifetime of a token, and what clocks may differ by. */
const VERIFY_MS = 65 * 60_000;
/** The least time between two reads for keys that are unknown here: anybody can name one. */
const LOOK_MS = 2000;
const FIRST = "es256";
/** Those that sign or verify, and the latest retired ones: a rotation adds one. */
const NEWEST = { sort: { created_at: -1 }, limit: 200 } as const;

/** A key pair that signs, or whose tokens have not expired. */
export interface SigningKey {
  _id: string;
  jwk: Jwk;
  privateKey: KeyObject;
  publicKey: KeyObject;
  signs_at: number;
  /** When its last token has expired; null for the newest. */
  ends_at: number | null;
}

export interface SigningKeyState {
  kid: string;
  state: "published" | "signing" | "verifying";
  signs_at: string;
  ends_at: string | null;
}

/** The refusal of another signing key before the last one signs. */
export const stillPublished = (signs_at: string) =>
  conflict(`A new signing key is published and signs from ${signs_at}. Rotate again after that.`);

/**
 * The installation's signing keys. They are in the record, and every node follows it: a new key is published first, then
 * signs; the former one verifies until its tokens have expired.
 */
export class SigningKeys {
  readonly #store: Store;
  readonly #secrets: SecretBox;
  /** By when they begin to sign. */
  #keys: SigningKey[] = [];
  #retired: Jwk[] = [];
  #read_at = Number.NEGATIVE_INFINITY;

  constructor(store: Store, secrets: SecretBox) {
    this.#store = store;
    this.#secrets = secrets;
  }

  get #rows() {
    return this.#store.collection(SigningKeyModel);
  }

  /** Reads the keys. Of two nodes that start at once on an empty store one creates the first, and both use it. */
  async load(): Promise<void> {
    this.#read_at = performance.now();
    let rows = await this.#rows.find(INSTALLATION, {}, NEWEST);
    if (!rows.some((row) => row.sealed_private_key)) {
      await this.#rows.insertOnce(this.#newRow(generate(), FIRST));
      rows = await this.#rows.find(INSTALLATION, {}, NEWEST);
    }
    const opened = rows.flatMap((row) => this.#open(row)).sort((a, b) => a.signs_at - b.signs_at);
    this.#keys = opened.map((key, i) => {
      const next = opened[i + 1];
      return { ...key, ends_at: next ? next.signs_at + VERIFY_MS : null };
    });
    this.#retired = rows.flatMap(({ jwk }) => jwk ?? []);
  }

  /** Reads the keys again if a token names one that is unknown here, and it may be new. */
  async follow(kid: string | undefined): Promise<boolean> {
    const isNew = kid !== undefined && !this.#keys.some(({ jwk }) => jwk.kid === kid);
    if (!isNew || performance.now() - this.#read_at < LOOK_MS) return false;
    await this.load();
    return true;
  }

  signer(now: number): SigningKey {
    return (this.#keys.findLast(({ signs_at }) => signs_at <= now) ?? this.#keys[0]) as SigningKey;
  }

  /** Returns the key of a token; null if it is unknown or over. */
  verifier(kid: string | undefined, now: number): SigningKey | null {
    return this.#live(now).find(({ jwk }) => jwk.kid === kid) ?? null;
  }

  jwks(now: number, { retired = false } = {}): Jwk[] {
    return [...this.#live(now).map(({ jwk }) => jwk), ...(retired ? this.#retired : [])];
  }

  states(now: number): SigningKeyState[] {
    const signer = this.signer(now);
    return this.#live(now).map(({ _id, jwk, signs_at, ends_at }) => ({
      kid: jwk.kid,
      state: _id === signer._id ? "signing" : signs_at > now ? "published" : "verifying",
      signs_at: new Date(signs_at).toISOString(),
      ends_at: ends_at === null ? null : new Date(ends_at).toISOString(),
    }));
  }

  /**
   * Creates a key, which signs once every copy of the JWKS has it; `at_once`: now, and no token of the others is valid any
   * more. @throws Fault conflict while another one waits to sign
   */
  async rotate(at_once: boolean): Promise<void> {
    await this.load();
    const now = this.#store.now();
    const waiting = this.#keys.find(({ signs_at }) => signs_at > now);
    if (waiting && !at_once) throw stillPublished(new Date(waiting.signs_at).toISOString());
    const former = this.#keys;
    const privateKey = generate();
    const _id = toJwk(createPublicKey(privateKey)).kid;
    const signs_at = new Date(at_once ? now : now + PUBLISH_MS);
    await this.#rows.insert({ ...this.#newRow(privateKey, _id), signs_at });
    if (at_once) for (const key of former) await this.#retire(key);
    await this.load();
  }

  /** Retires the keys whose tokens have all expired. */
  async retireEnded(): Promise<boolean> {
    const now = this.#store.now();
    const ended = this.#keys.filter(({ ends_at }) => ends_at !== null && ends_at <= now);
    for (const key of ended) await this.#retire(key);
    if (ended.length > 0) await this.load();
    return false;
  }

  /** Removes the private key; the public one stays for receipts. */
  async #retire({ _id, jwk }: SigningKey): Promise<void> {
    const created_at = new Date(this.#store.now());
    await this.#rows.insertOnce({ _id: `retired.${jwk.kid}`, tenant_id: INSTALLATION, jwk, created_at });
    await this.#rows.delete(INSTALLATION, { _id });
  }

  #live(now: number): SigningKey[] {
    return this.#keys.filter(({ ends_at }) => ends_at === null || ends_at > now);
  }

  #newRow(privateKey: KeyObject, _id: string): SigningKeyDoc {
    const pem = privateKey.export({ format: "pem", type: "pkcs8" }) as string;
    const sealed_private_key = this.#secrets.seal(pem, signingKeyPlace(_id));
    return { _id, tenant_id: INSTALLATION, sealed_private_key, created_at: new Date(this.#store.now()) };
  }

  #open({ _id, sealed_private_key, created_at, signs_at }: SigningKeyDoc): Omit<SigningKey, "ends_at">[] {
    if (!sealed_private_key) return [];
    const known = this.#keys.find((key) => key._id === _id);
    // Opened once: a key's row never changes its key.
    const privateKey =
      known?.privateKey ?? createPrivateKey(this.#secrets.open(sealed_private_key, signingKeyPlace(_id)));
    const publicKey = known?.publicKey ?? createPublicKey(privateKey);
    const jwk = known?.jwk ?? toJwk(publicKey);
    return [{ _id, jwk, privateKey, publicKey, signs_at: (signs_at ?? created_at).getTime() }];
  }
}

function generate(): KeyObject {
  return generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
}

/** Returns a public key in JWKS format (RFC 7517). */
export function toJwk(publicKey: KeyObject): Jwk {
  const { kty, crv, x, y } = publicKey.export({ format: "jwk" });
  // RFC 7638: the members in this order.
  const kid = createHash("sha256").update(JSON.stringify({ crv, kty, x, y })).digest("base64url");
  return { kty, crv, x, y, kid, use: "sig", alg: ALGORITHM } as Jwk;
}
