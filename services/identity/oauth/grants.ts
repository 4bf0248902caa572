import type { ServiceBroker } from "moleculer";
import type { SecretBox } from "../../../lib/crypto/secrets.ts";
import { newId, newUuid } from "../../../lib/ids.ts";
import { DAY_MS } from "../../../lib/time.ts";
import { Due } from "../../../mixins/due.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import { type GrantDoc, GrantModel } from "./oauth.model.ts";

const CODE_MS = 60_000;
/** How long a device may take to fetch its token once it is approved. */
export const DEVICE_MS = 10 * 60_000;
/** How long the previous refresh token returns the valid one again, in case its answer was lost. */
const RETRY_MS = 10_000;
/** Lifetime of a refresh token. */
const IDLE_MS = 30 * DAY_MS;
const MAC_BYTES = 24;
const BATCH = 500;

type Approved = Pick<
  GrantDoc,
  | "tenant_id"
  | "agent_id"
  | "client_id"
  | "client_name"
  | "redirect_uri"
  | "code_challenge"
  | "resource"
  | "scopes"
  | "approval"
  | "refreshable"
>;

type GrantId = Pick<GrantDoc, "tenant_id" | "_id">;

/** Grants of people to clients. Every transition is one guarded write, so that a code or token counts once. */
export class Grants {
  readonly #store: Store;
  readonly #secrets: SecretBox;
  readonly #rows: TenantCollection<GrantDoc>;
  readonly #expired: Due<GrantDoc>;

  constructor(store: Store, secrets: SecretBox) {
    this.#store = store;
    this.#secrets = secrets;
    this.#rows = store.collection(GrantModel);
    const asking = { rows: this.#rows, by: "expires_at", batch: BATCH, keeps: true } as const;
    this.#expired = new Due({ ...asking, now: () => store.now() });
  }

  open(approved: Approved): Promise<GrantDoc> {
    const now = this.#store.now();
    return this.#rows.insert({
      ...approved,
      _id: newUuid(),
      state: "approved",
      session_id: newId("ses"),
      key_id: null,
      refreshes: 0,
      created_at: new Date(now),
      expires_at: new Date(now + (approved.redirect_uri === null ? DEVICE_MS : CODE_MS)),
    });
  }

  find({ tenant_id, _id }: GrantId): Promise<GrantDoc | null> {
    return this.#rows.findOne(tenant_id, { _id });
  }

  ofKey(tenant_id: string, key_id: string): Promise<GrantDoc | null> {
    return this.#rows.findOne(tenant_id, { key_id });
  }

  /** Removes one that was not exchanged. */
  async withdraw({ tenant_id, _id }: GrantId): Promise<void> {
    await this.#rows.delete(tenant_id, { _id, state: "approved" });
  }

  codeOf({ tenant_id, _id }: GrantId): string {
    return this.#signed("code", `${tenant_id}.${_id}`);
  }

  refreshTokenOf({ tenant_id, _id, refreshes }: GrantDoc): string {
    return this.#signed("refresh token", `${tenant_id}.${_id}.${refreshes}`);
  }

  /** Returns the grant of a code; null for a code that was never issued. */
  async byCode(code: string): Promise<GrantDoc | null> {
    const [tenant_id, _id] = this.#opened("code", code);
    return tenant_id && _id ? this.find({ tenant_id, _id }) : null;
  }

  /**
   * Returns the grant of a refresh token, and whether it is the valid one, or the one that this has just replaced; null if
   * it was never issued.
   */
  async byRefreshToken(
    token: string,
  ): Promise<{ grant: GrantDoc; isValid: boolean; isRetry: boolean } | null> {
    const [tenant_id, _id, number] = this.#opened("refresh token", token);
    const grant = tenant_id && _id ? await this.find({ tenant_id, _id }) : null;
    if (!grant) return null;
    const { refreshes, refreshed_at } = grant;
    const isRecent = this.#store.now() - (refreshed_at?.getTime() ?? 0) < RETRY_MS;
    const isRetry = grant.state === "active" && isRecent && refreshes === Number(number) + 1;
    return { grant, isValid: refreshes === Number(number), isRetry };
  }

  /** approved → active, once; null if its code was used before. */
  activate({ tenant_id, _id }: GrantId, key_id: string): Promise<GrantDoc | null> {
    const $set = { state: "active" as const, key_id, expires_at: this.#inDays() };
    return this.#rows.update(tenant_id, { _id, state: "approved" }, { $set });
  }

  /** Replaces the refresh token; null if another request has done so. */
  rotate({ tenant_id, _id, refreshes }: GrantDoc): Promise<GrantDoc | null> {
    const refreshed_at = new Date(this.#store.now());
    const change = { $inc: { refreshes: 1 }, $set: { expires_at: this.#inDays(), refreshed_at } };
    return this.#rows.update(tenant_id, { _id, refreshes, state: "active" }, change);
  }

  /** Ends the connection: its tokens are refused within 5 seconds. May be repeated. */
  async end(broker: Pick<ServiceBroker, "call">, { tenant_id, _id, session_id }: GrantDoc): Promise<void> {
    const ended = await this.#rows.update(tenant_id, { _id }, { $set: { state: "ended" } });
    if (ended?.key_id) await broker.call("keys.end", { tenant_id, key_id: ended.key_id });
    const key_id = await broker.call<string | null, object>("sessions.close", { tenant_id, session_id });
    // An exchange that was cut off has a session, but no key in the grant yet.
    if (key_id && !ended?.key_id) await broker.call("keys.end", { tenant_id, key_id });
  }

  /** Removes grants whose code or refresh token has expired, and ends their connections. */
  removeOld(broker: Pick<ServiceBroker, "call">): Promise<boolean> {
    return this.#expired.each(async (row) => {
      await this.end(broker, row);
      const expires_at = { $lte: new Date(this.#store.now()) };
      await this.#rows.delete(row.tenant_id, { _id: row._id, expires_at });
    });
  }

  #inDays(): Date {
    return new Date(this.#store.now() + IDLE_MS);
  }

  /** Returns a credential: what it names, and a proof that this installation has issued it. */
  #signed(purpose: string, named: string): string {
    return `${named}.${this.#secrets.digest(MAC_BYTES, `oauth ${purpose}`, named)}`;
  }

  /** Returns what a credential names, by parts; nothing if it was never issued. */
  #opened(purpose: string, credential: string): string[] {
    const end = credential.lastIndexOf(".");
    const [named, mac] = [credential.slice(0, Math.max(0, end)), credential.slice(end + 1)];
    return this.#secrets.isDigest(mac, MAC_BYTES, `oauth ${purpose}`, named) ? named.split(".") : [];
  }
}
