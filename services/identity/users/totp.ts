import { createHash } from "node:crypto";
import { Secret, TOTP } from "otpauth";
import type { OfUser } from "../../../lib/access/caller.ts";
import { conflict } from "../../../lib/contract/faults.ts";
import { isPassword } from "../../../lib/crypto/password.ts";
import type { SecretBox } from "../../../lib/crypto/secrets.ts";
import { newUuid } from "../../../lib/ids.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import { guardedWrite } from "../../../storage/writes.ts";
import type { Runtime } from "../../runtime.ts";
import { type Totp, totpPlace, type UserDoc } from "./users.model.ts";

/** The outcome of a code: `later` if too many were wrong. */
export type CodeCheck = { is: "right" } | { is: "wrong" } | { is: "later"; wait_ms: number };

/** Wrong codes in a row before one has to wait. Only who has the password gets this far, so nobody else is locked out. */
const FREE_FAILURES = 5;
const FIRST_WAIT_MS = 30_000;
const LONGEST_WAIT_MS = 15 * 60_000;
const RACED = "The second factor is being changed concurrently. Retry.";

/** The second factors of people, in their rows. */
export class SecondFactors {
  readonly #secrets: SecretBox;
  readonly #store: Store;
  readonly #rows: TenantCollection<UserDoc>;

  constructor({ secrets, store }: Pick<Runtime, "secrets" | "store">, rows: TenantCollection<UserDoc>) {
    this.#secrets = secrets;
    this.#store = store;
    this.#rows = rows;
  }

  /** Stores a new secret, not yet in force; null if the password is wrong. @throws Fault conflict if one is in force */
  async begin({ tenant_id, user_id, password, seed }: OfUser & { password: string; seed?: string }) {
    const user = await this.#rows.findOne(tenant_id, { _id: user_id });
    if (!(await isPassword(password, user?.password ?? null)) || !user) return null;
    if (isInForce(user.totp))
      throw conflict("A second factor is already set up. Remove it first, then set up another.");
    const secret = newTotpSecret(this.#secrets, seed);
    const fresh = { confirmed_at: null, last_step: 0, recovery: [], failures: 0, failed_at: null };
    const sealed_secret = this.#secrets.seal(secret, totpPlace(user_id));
    const written = await this.#put(user, { ...fresh, sealed_secret });
    if (!written) throw conflict(RACED);
    // The address that authenticator apps read as a QR code.
    return { secret, uri: totpOf(secret, user.email).toString() };
  }

  /** Puts a secret in force by its first code; returns the recovery codes, or null if the code is wrong. */
  confirm({ tenant_id, user_id, code, seed }: OfUser & { code: string; seed?: string }) {
    return guardedWrite(async () => {
      const user = await this.#rows.findOne(tenant_id, { _id: user_id });
      const totp = user?.totp;
      if (!user || !totp || isInForce(totp))
        throw conflict("No second factor waits for a code. Begin to set one up first.");
      const step = this.#stepOf(user_id, totp, code);
      if (step === null) return { recovery_codes: null };
      const recovery_codes = newRecoveryCodes(this.#secrets, seed);
      const confirmed = { confirmed_at: this.#now(), last_step: step };
      const recovery = recovery_codes.map(hashRecoveryCode);
      return (await this.#put(user, { ...totp, ...confirmed, recovery })) && { recovery_codes };
    }, RACED);
  }

  /** Uses a code up: one of the authenticator, or a recovery code. */
  check({ tenant_id, user_id, code }: OfUser & { code: string }): Promise<CodeCheck> {
    return guardedWrite<CodeCheck>(async () => {
      const user = await this.#rows.findOne(tenant_id, { _id: user_id });
      const totp = user?.totp;
      if (!user || !totp || !isInForce(totp)) return { is: "right" };
      const hash = hashRecoveryCode(code);
      if (totp.recovery.includes(hash)) {
        const recovery = totp.recovery.filter((each) => each !== hash);
        return (await this.#put(user, { ...totp, recovery, failures: 0 })) && { is: "right" };
      }
      const wait_ms = remainingWait(totp, this.#store.now());
      if (wait_ms > 0) return { is: "later", wait_ms };
      const step = this.#stepOf(user_id, totp, code);
      if (step !== null && step > totp.last_step)
        return (await this.#put(user, { ...totp, last_step: step, failures: 0 })) && { is: "right" };
      const failed = { failures: totp.failures + 1, failed_at: this.#now() };
      return (await this.#put(user, { ...totp, ...failed })) && { is: "wrong" };
    }, RACED);
  }

  /** Removes the second factor, by the password or a recovery code; false if it is wrong. */
  async remove({ tenant_id, user_id, password, recovery_code }: OfUser & Proof): Promise<boolean> {
    const user = await this.#rows.findOne(tenant_id, { _id: user_id });
    if (!user) return false;
    const isProven =
      password === undefined
        ? (user.totp?.recovery.includes(hashRecoveryCode(recovery_code ?? "")) ?? false)
        : await isPassword(password, user.password);
    if (!isProven) return false;
    const $set = { totp: null, updated_at: this.#now() };
    await this.#rows.update(tenant_id, { _id: user_id }, { $set });
    return true;
  }

  #stepOf(user_id: string, { sealed_secret }: Totp, code: string): number | null {
    const secret = this.#secrets.open(sealed_secret, totpPlace(user_id));
    return stepOfCode(secret, plainCode(code), this.#store.now());
  }

  /** Writes the second factor unless another write came first. */
  #put({ tenant_id, _id, totp: before }: UserDoc, next: Omit<Totp, "version">): Promise<UserDoc | null> {
    const totp = { ...next, version: newUuid() };
    return this.#rows.update(
      tenant_id,
      { _id, "totp.version": before?.version ?? null },
      { $set: { totp, updated_at: this.#now() } },
    );
  }

  #now(): Date {
    return new Date(this.#store.now());
  }
}

/** Proof that a person may remove their second factor. */
export interface Proof {
  password?: string | undefined;
  recovery_code?: string | undefined;
}

/** Whether a code is asked for at sign-in. */
export function isInForce(totp: Totp | null | undefined): boolean {
  return (totp?.confirmed_at ?? null) !== null;
}

function remainingWait({ failures, failed_at }: Totp, now: number): number {
  if (failures < FREE_FAILURES || !failed_at) return 0;
  const wait = Math.min(FIRST_WAIT_MS * 2 ** (failures - FREE_FAILURES), LONGEST_WAIT_MS);
  return failed_at.getTime() + wait - now;
}

const SECRET_BYTES = 20;
const PERIOD_SECONDS = 30;
/** Steps before and after the current one whose codes count, because clocks differ. */
const WINDOW = 1;
const CODE = /^\d{6}$/;
const RECOVERY_CODES = 10;
const RECOVERY_BYTES = 10;

/** Creates a secret for codes by time (RFC 6238), in base32; the same seed gives the same secret. */
export function newTotpSecret(secrets: SecretBox, seed?: string): string {
  const { buffer } = new Uint8Array(secrets.random(SECRET_BYTES, "totp", seed));
  return new Secret({ buffer }).base32;
}

/** Returns the time step whose code this is; null if it is none of those that count at a time. */
export function stepOfCode(secret: string, code: string, now: number): number | null {
  // The library throws for characters of several bytes.
  if (!CODE.test(code)) return null;
  const delta = totpOf(secret).validate({ token: code, timestamp: now, window: WINDOW });
  return delta === null ? null : Math.floor(now / 1000 / PERIOD_SECONDS) + delta;
}

function totpOf(secret: string, label = ""): TOTP {
  return new TOTP({ issuer: "Sensorium", label, secret, period: PERIOD_SECONDS });
}

/** Creates codes of 80 bits, for people who have lost their authenticator: `abcd-efgh-ijkl-mnop`. */
export function newRecoveryCodes(secrets: SecretBox, seed?: string): string[] {
  const bytes = secrets.random(RECOVERY_CODES * RECOVERY_BYTES, "recovery codes", seed);
  return Array.from({ length: RECOVERY_CODES }, (_, i) => {
    const { buffer } = new Uint8Array(bytes.subarray(i * RECOVERY_BYTES, (i + 1) * RECOVERY_BYTES));
    return (new Secret({ buffer }).base32.toLowerCase().match(/.{4}/g) as string[]).join("-");
  });
}

/** Removes what people add to a code as they type it. */
export function plainCode(code: string): string {
  return code.replace(/[\s-]/g, "").toLowerCase();
}

/** Returns what is stored of a recovery code: its bits are random, so that a plain hash suffices. */
export function hashRecoveryCode(code: string): string {
  return createHash("sha256").update(plainCode(code)).digest("base64url");
}
