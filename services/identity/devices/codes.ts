import type { Static } from "typebox";
import type { Call, Scope } from "../../../lib/access/caller.ts";
import { canonicalUserCode, USER_CODE_BYTES, userCode } from "../../../lib/access/user-code.ts";
import type { SecretBox } from "../../../lib/crypto/secrets.ts";
import { newId } from "../../../lib/ids.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { standing } from "../keys/approval.ts";
import type { Approval, Issued } from "../keys/keys.contract.ts";
import type { ClientInfo } from "./devices.contract.ts";
import { type CodeState, codePlace, type DeviceCodeDoc } from "./devices.model.ts";

/** Lifetime of a code, and then of an approved claim (spec: Device code TTL). */
const LIFETIME_MS = 10 * 60_000;
const DIGEST_BYTES = 32;
const LIVE: CodeState[] = ["pending", "claimed", "approved", "completed"];

/** Stores device codes. Every transition is one guarded write; of two concurrent ones only one succeeds. */
export class Codes {
  readonly #rows: TenantCollection<DeviceCodeDoc>;
  readonly #secrets: SecretBox;

  constructor(rows: TenantCollection<DeviceCodeDoc>, secrets: SecretBox) {
    this.#rows = rows;
    this.#secrets = secrets;
  }

  /**
   * Returns the digest that a credential is looked up by. Keyed, because a code is short enough to be guessed from a
   * plain hash.
   */
  digest(purpose: "code" | "claim" | "address", credential: string): string {
    return this.#secrets.digest(DIGEST_BYTES, `device ${purpose}`, credential);
  }

  /** Returns a condition for the stored digest of a credential, by whatever key. */
  #digestOf(purpose: "code" | "claim", credential: string) {
    return { $in: this.#secrets.digests(DIGEST_BYTES, `device ${purpose}`, credential) };
  }

  /** Issues a new code; it supersedes a pending one of the same agent. */
  async issue(
    { id: agent_id, tenant_id }: { id: string; tenant_id: string },
    { scopes, issued }: { scopes: readonly Scope[]; issued: Issued },
    { now, seed }: { now: number; seed: string | undefined },
  ): Promise<DeviceCodeDoc> {
    const _id = newId("clm", seed && `code ${seed}`);
    const text = userCode(this.#secrets.random(USER_CODE_BYTES, "user code", seed));
    const before = await this.newest(tenant_id, agent_id);
    const code = await this.#rows.insertOnce({
      _id,
      tenant_id,
      agent_id,
      scopes: [...scopes],
      state: "pending",
      code_digest: this.digest("code", text),
      sealed_code: this.#secrets.seal(text, codePlace(_id)),
      claim_digest: _id,
      sealed_claim: null,
      client_info: null,
      session_id: newId("ses"),
      claimed_at: null,
      confirmed_at: null,
      issued,
      approval: null,
      expires_at: new Date(now + LIFETIME_MS),
      // After the code that it supersedes, whatever the clocks of nodes show.
      created_at: new Date(Math.max(now, before ? before.created_at.getTime() + 1 : 0)),
    });
    const { created_at } = code;
    const $or = [{ created_at: { $lt: created_at } }, { created_at, _id: { $lt: _id } }];
    const older = { agent_id, state: "pending" as const, $or };
    await this.#rows.updateMany(tenant_id, older, { $set: { state: "superseded" } });
    return code;
  }

  async newest(tenant_id: string, agent_id: string): Promise<DeviceCodeDoc | null> {
    const sort = { created_at: -1, _id: -1 } as const;
    const [code] = await this.#rows.find(tenant_id, { agent_id }, { sort, limit: 1 });
    return code ?? null;
  }

  /** Returns the row of a code that is neither denied, superseded nor expired. */
  byCode(from: Pick<Call, "call">, text: string, now: number): Promise<DeviceCodeDoc | null> {
    const live = { state: { $in: LIVE }, expires_at: { $gt: new Date(now) } };
    return this.#find(from, { code_digest: this.#digestOf("code", canonicalUserCode(text)), ...live });
  }

  byClaim(from: Pick<Call, "call">, claim_id: string): Promise<DeviceCodeDoc | null> {
    return this.#find(from, { claim_digest: this.#digestOf("claim", claim_id) });
  }

  /** Returns the one row, unless what it was issued on has ended. */
  async #find(from: Pick<Call, "call">, filter: object): Promise<DeviceCodeDoc | null> {
    const code = (await this.#rows.system.findOne(filter)) as DeviceCodeDoc | null;
    const [found = null] = code ? await standing(from, [code], ({ issued }) => issued) : [];
    return found;
  }

  /** pending → claimed. Returns null if the code is not pending. */
  async claim(
    from: Pick<Call, "call">,
    text: string,
    claim_id: string,
    { name, version, signature = null, host }: Static<typeof ClientInfo>,
    now: number,
  ): Promise<DeviceCodeDoc | null> {
    // One read and one write for any code: wrong codes take as long as right ones.
    const code = await this.byCode(from, text, now);
    const { tenant_id, _id } = code ?? { tenant_id: "none", _id: "none" };
    const pending = { _id, state: "pending" as const, expires_at: { $gt: new Date(now) } };
    const $set = {
      state: "claimed" as const,
      // Other fields are not kept: nobody has approved the device yet.
      client_info: { name, version, signature, host },
      claimed_at: new Date(now),
      claim_digest: this.digest("claim", claim_id),
      sealed_claim: this.#secrets.seal(claim_id, codePlace(_id)),
    };
    return this.#rows.update(tenant_id, pending, { $set });
  }

  /** claimed → approved or, without an approval, denied; returns null if another decision was first. */
  decide({ tenant_id, _id, expires_at }: DeviceCodeDoc, approval: Approval | null, now: number) {
    const decided = { approval, confirmed_at: new Date(now) };
    const approved = { state: "approved", expires_at: new Date(now + LIFETIME_MS) } as const;
    const $set = { ...decided, ...(approval ? approved : { state: "denied" as const, expires_at }) };
    return this.#rows.update(tenant_id, { _id, state: "claimed" }, { $set });
  }

  /** approved → completed, once. */
  async use({ tenant_id, _id }: DeviceCodeDoc, now: number): Promise<boolean> {
    const filter = { _id, state: "approved" as const, expires_at: { $gt: new Date(now) } };
    return (await this.#rows.update(tenant_id, filter, { $set: { state: "completed" } })) !== null;
  }

  textOf({ _id, sealed_code }: DeviceCodeDoc): string {
    return this.#secrets.open(sealed_code, codePlace(_id));
  }

  present(code: DeviceCodeDoc, now: number) {
    return {
      user_code: this.textOf(code),
      expires_at: code.expires_at.toISOString(),
      server_now: new Date(now).toISOString(),
    };
  }

  /** Returns the status union (spec: Device connection records). Only people are shown the claim they confirm. */
  status(code: DeviceCodeDoc, now: number, byPerson: boolean) {
    const { _id, session_id, scopes, client_info, sealed_claim } = code;
    const state = stateAt(code, now);
    const shown = { state, ...this.present(code, now), scopes };
    const client = { client_info, claimed_at: code.claimed_at?.toISOString() };
    if (state === "connected") {
      return { ...shown, ...client, session_id, confirmed_at: code.confirmed_at?.toISOString() };
    }
    if (state !== "verifying") return shown;
    const claim_id = byPerson && sealed_claim ? this.#secrets.open(sealed_claim, codePlace(_id)) : undefined;
    return { ...shown, ...client, ...(claim_id && { claim_id }) };
  }
}

function stateAt({ state, expires_at }: DeviceCodeDoc, now: number) {
  if (state === "denied") return "denied";
  if (state === "completed") return "connected";
  if (state === "superseded" || expires_at.getTime() <= now) return "expired";
  return { pending: "waiting", claimed: "verifying", approved: "connected" }[state];
}
