import type { Static } from "typebox";
import type { Call, Caller, Scope } from "../../../lib/access/caller.ts";
import { canonicalUserCode, USER_CODE_BYTES, userCode } from "../../../lib/access/user-code.ts";
import { conflict, forbidden, notFound, requireFound } from "../../../lib/contract/faults.ts";
import type { SecretBox } from "../../../lib/crypto/secrets.ts";
import { networkOf } from "../../../lib/http/network-address.ts";
import { newId } from "../../../lib/ids.ts";
import { account } from "../../../middlewares/audit.ts";
import { reportChange } from "../../../middlewares/live-changes.ts";
import { deletion } from "../../../mixins/due.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { HourlyBudget } from "../../../storage/hourly-budget.ts";
import { INSTALLATION } from "../../../storage/model.ts";
import { action, internal, type ServiceFactory } from "../../runtime.ts";
import { findAgent } from "../agents/find-agent.ts";
import { approvalBy, issuedNow, isValidKey, standing } from "../keys/approval.ts";
import type { Approval, Issued } from "../keys/keys.contract.ts";
import { originOf } from "../tenants/origin.ts";
import { maySeeDevices, ownAgent, scopesToIssue } from "./agent-access.ts";
import type { ClientInfo } from "./devices.contract.ts";
import * as contract from "./devices.contract.ts";
import {
  ClaimBudgetModel,
  type CodeState,
  codePlace,
  type DeviceCodeDoc,
  DeviceCodeModel,
  SessionModel,
} from "./devices.model.ts";

const SWEEP_MS = 5 * 60_000;
/** How long the status reports the outcome of a code. */
const KEPT_MS = 24 * 60 * 60_000;
const TOO_MANY_CLAIMS = "Too many codes were tried, or clients registered, from this address.";

/** Connects an agent's device: issue, claim, confirm, complete (spec: Device connection code). */
export const devicesService: ServiceFactory = ({ store, secrets, config }) => {
  const codeRows = store.collection(DeviceCodeModel);
  const codes = new Codes(codeRows, secrets);
  const claims = store.collection(ClaimBudgetModel);
  const budget = new HourlyBudget(claims, config.DEVICE_CLAIMS_PER_HOUR, TOO_MANY_CLAIMS);
  const sessions = store.collection(SessionModel);
  const { now } = store;

  const oldCodes = deletion({ rows: codeRows, by: "expires_at", now: () => now() - KEPT_MS });
  const oldClaims = deletion({ rows: claims, by: "ends_at", now });
  const sweeps = [new SharedLoop("codes", oldCodes, SWEEP_MS), new SharedLoop("claims", oldClaims, SWEEP_MS)];

  /** Counts a try of a code, or of a client to register, per address. @throws Fault rate_limited when none is left */
  function takeTry({ meta }: Call, purpose: "code" | "client" = "code"): Promise<void> {
    const network = networkOf(meta.ip ?? "");
    const address = purpose === "code" ? network : `${purpose} ${network}`;
    return budget.take(INSTALLATION, codes.digest("address", address), now());
  }

  /**
   * The session exists from the approval on, and is removed unless the device fetches its key (spec: claimed →
   * approved).
   */
  async function openSession(approved: DeviceCodeDoc) {
    const { session_id: _id, tenant_id, agent_id, client_info, expires_at, scopes, approval } = approved;
    const at = new Date(now());
    const { name: client_name, version: client_version } = client_info ?? { name: "", version: "" };
    await sessions.insertOnce({
      ...{ _id, tenant_id, agent_id, key_id: null, scopes, client_name, client_version },
      ...{ approved_by: approval?.user_id ?? null, connected_at: at, last_seen_at: at },
      ...{ last_heartbeat_at: null, fetch_by: expires_at },
    });
  }

  return {
    name: "devices",
    mixins: sweeps.map(({ mixin }) => mixin),
    actions: {
      issue: action(contract.issueDeviceCode, async (ctx) => {
        const agent = await ownAgent(ctx, ctx.params.agent_id);
        const scopes = scopesToIssue(ctx.meta.caller, ctx.params.scopes);
        const verification_uri = `${await originOf(ctx.broker, config)}/connect`;
        const at = now();
        const { issued } = await issuedNow(ctx, agent);
        const code = await codes.issue(
          agent,
          { scopes, issued },
          { now: at, seed: ctx.meta.idempotency_seed },
        );
        const verification_uri_complete = `${verification_uri}?code=${codes.textOf(code)}`;
        return { ...codes.present(code, at), verification_uri, verification_uri_complete };
      }),

      status: action(contract.getDeviceCodeStatus, async (ctx) => {
        const { agent_id } = ctx.params;
        const { tenant_id } = await ownAgent(ctx, agent_id);
        const code = requireFound(await codes.newest(tenant_id, agent_id), "device_code", agent_id);
        return codes.status(code, now(), ctx.meta.caller.kind === "user");
      }),

      claim: action(contract.claimDeviceCode, async (ctx) => {
        const { user_code, client_info } = ctx.params;
        await takeTry(ctx);
        const claim_id = newId("clm");
        const claimed = await codes.claim(ctx, user_code, claim_id, client_info, now());
        reportChange(ctx.broker, requireFound(claimed, "device_code", user_code).tenant_id, "device");
        return { claim_id };
      }),

      confirm: action(contract.confirmDeviceCode, async (ctx) => {
        const { agent_id, claim_id, action } = ctx.params;
        const agent = await ownAgent(ctx, agent_id);
        const at = now();
        const claim = await codes.byClaim(ctx, claim_id);
        const own = claim?.tenant_id === agent.tenant_id && claim.agent_id === agent_id;
        if (!own || claim.expires_at.getTime() <= at) throw notFound("claim", claim_id);
        const approve = action === "approve";
        if (approve) assertMayApprove(ctx.meta.caller, claim);
        const approval = approve ? await approvalBy(ctx, agent, claim.scopes) : null;
        const decided = await codes.decide(claim, approval, at);
        if (!decided)
          throw conflict(
            "The claim was already approved or rejected. Issue a new code to connect the device again.",
          );
        if (approve) await openSession(decided);
        account(ctx, { decision: action, scopes: claim.scopes });
        return { state: approve ? "approved" : "denied", confirmed_at: new Date(at).toISOString() };
      }),

      complete: action(contract.completeDeviceCode, async (ctx) => {
        const { claim_id } = ctx.params;
        const at = now();
        const claim = await codes.byClaim(ctx, claim_id);
        const open = claim && claim.expires_at.getTime() > at;
        if (open && claim.state === "claimed") {
          const message =
            "The claim is not approved yet. Retry after a person has approved it in the console.";
          throw conflict(message);
        }
        if (!open || claim.state !== "approved") throw notFound("claim", claim_id);
        const { tenant_id, agent_id, session_id, scopes, approval } = claim;
        // Issued before the claim is used up, and the same on each try: after a crash here the claim is still valid.
        const name = claim.client_info?.name ?? null;
        const issue = { tenant_id, agent_id, name, scopes, approval, seed: `device ${claim._id}` };
        const issued = await ctx.call<{ key: string; key_id: string }, object>("keys.issue", issue);
        if (!(await isValidKey(ctx, issued.key_id))) throw notFound("claim", claim_id);
        await openSession(claim);
        const $set = { key_id: issued.key_id, fetch_by: null, last_seen_at: new Date(at) };
        await sessions.update(tenant_id, { _id: session_id }, { $set });
        type Token = { access_token: string; expires_at: string };
        const token = await ctx.call<Token, object>("auth.token", { api_key: issued.key });
        if (!(await codes.use(claim, at))) throw notFound("claim", claim_id);
        reportChange(ctx.broker, tenant_id, "device");
        const { access_token, expires_at } = token;
        const server_now = new Date(at).toISOString();
        return { session_id, agent_id, api_key: issued.key, access_token, expires_at, server_now };
      }),

      look_up: action(contract.lookUpDeviceCode, async (ctx) => {
        await takeTry(ctx);
        const code = await codes.byCode(ctx, ctx.params.code, now());
        if (!code || !(await mayLookUp(ctx, code))) throw notFound("device_code", ctx.params.code);
        const { agent_id, scopes } = code;
        return { agent_id, ...(ctx.meta.caller && { scopes }) };
      }),

      /** Counts a try of the caller's address. @throws Fault rate_limited when none is left */
      take_try: internal<{ purpose: "code" | "client" }>((ctx) => takeTry(ctx, ctx.params.purpose)),
    },
  };
};

/** The code alone authorises its device; an authenticated caller must also have access. */
async function mayLookUp(ctx: Call, { tenant_id, agent_id }: DeviceCodeDoc): Promise<boolean> {
  const caller: Caller | undefined = ctx.meta.caller;
  if (!caller) return true;
  const agent = caller.tenant_id === tenant_id && (await findAgent(ctx, agent_id));
  return Boolean(agent && maySeeDevices(caller, agent));
}

function assertMayApprove(caller: Caller, { scopes }: DeviceCodeDoc): void {
  if (!scopes.includes("admin") || (caller.kind === "user" && caller.role === "admin")) return;
  throw forbidden(
    "Only an org admin can approve a code with the scope admin. Ask one, or issue a code without it.",
  );
}

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
