import { randomBytes } from "node:crypto";
import type { Call } from "../../../lib/access/caller.ts";
import { canonicalUserCode, USER_CODE_BYTES, userCode } from "../../../lib/access/user-code.ts";
import { requireFound } from "../../../lib/contract/faults.ts";
import type { SecretBox } from "../../../lib/crypto/secrets.ts";
import { newUuid } from "../../../lib/ids.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import { INSTALLATION } from "../../../storage/model.ts";
import { DEVICE_MS } from "./grants.ts";
import { type DeviceDoc, DeviceModel, type GrantDoc } from "./oauth.model.ts";
import { oauthFault } from "./oauth-fault.ts";

export const POLL_SECONDS = 5;
/** A poll may arrive a little early: clocks and networks are not exact. */
const EARLY_MS = 500;
const DIGEST_BYTES = 32;

/** Devices that wait for a person (RFC 8628). */
export class DeviceRequests {
  readonly #store: Store;
  readonly #secrets: SecretBox;

  constructor(store: Store, secrets: SecretBox) {
    this.#store = store;
    this.#secrets = secrets;
  }

  get #rows(): TenantCollection<DeviceDoc> {
    return this.#store.collection(DeviceModel);
  }

  async open(request: Pick<DeviceDoc, "client_id" | "scope" | "resource">) {
    const user_code = userCode(randomBytes(USER_CODE_BYTES));
    const device_code = randomBytes(DIGEST_BYTES).toString("base64url");
    await this.#rows.insert({
      ...request,
      _id: newUuid(),
      tenant_id: INSTALLATION,
      device_digest: this.#digest("device", device_code),
      user_digest: this.#digest("user", user_code),
      state: "pending",
      grant: null,
      polled_at: null,
      expires_at: new Date(this.#store.now() + DEVICE_MS),
    });
    return { user_code, device_code, expires_in: DEVICE_MS / 1000, interval: POLL_SECONDS };
  }

  /** Returns the device that shows a code. Tries are limited by address. @throws Fault not_found, rate_limited */
  async find(ctx: Call, user_code: string): Promise<DeviceDoc> {
    await ctx.call("devices.take_try", { purpose: "code" });
    const expires_at = { $gt: new Date(this.#store.now()) };
    const user_digest = this.#digestOf("user", canonicalUserCode(user_code));
    const device = await this.#rows.findOne(INSTALLATION, { user_digest, state: "pending", expires_at });
    return requireFound(device, "device_code", user_code);
  }

  /** pending → approved or, without a grant, denied; null if another decision was first. */
  decide({ _id }: DeviceDoc, grant: GrantDoc | null): Promise<DeviceDoc | null> {
    const place = grant && { tenant_id: grant.tenant_id, _id: grant._id };
    const $set = { state: grant ? ("approved" as const) : ("denied" as const), grant: place };
    return this.#rows.update(INSTALLATION, { _id, state: "pending" }, { $set });
  }

  /** Returns the place of the grant of a device that polls. @throws Fault in OAuth's form until there is one */
  async poll(device_code: string, client_id: string): Promise<Pick<GrantDoc, "tenant_id" | "_id">> {
    const now = this.#store.now();
    const device_digest = this.#digestOf("device", device_code);
    const device = await this.#rows.findOne(INSTALLATION, { device_digest });
    if (!device || device.client_id !== client_id)
      throw oauthFault("invalid_grant", "device_code: it was issued to no such client.");
    if (device.grant) return device.grant;
    if (device.state === "denied") throw oauthFault("access_denied", "The person has denied the request.");
    if (device.expires_at.getTime() <= now)
      throw oauthFault("expired_token", "The device code has expired. Get a new one.");
    const since = now - (device.polled_at?.getTime() ?? 0);
    await this.#rows.update(INSTALLATION, { _id: device._id }, { $set: { polled_at: new Date(now) } });
    if (since < POLL_SECONDS * 1000 - EARLY_MS)
      throw oauthFault("slow_down", `Poll every ${POLL_SECONDS} s, and from now on 5 s less often.`);
    throw oauthFault("authorization_pending", "A person has yet to approve the request.");
  }

  /** Keyed, because a user code is short enough to be guessed from a plain hash. */
  #digest(purpose: "device" | "user", code: string): string {
    return this.#secrets.digest(DIGEST_BYTES, `oauth ${purpose} code`, code);
  }

  /** Returns a condition for the stored digest of a code, by whatever key. */
  #digestOf(purpose: "device" | "user", code: string) {
    return { $in: this.#secrets.digests(DIGEST_BYTES, `oauth ${purpose} code`, code) };
  }
}
