import type { Call, Caller } from "../../../lib/access/caller.ts";
import { conflict, forbidden, notFound, requireFound } from "../../../lib/contract/faults.ts";
import { networkOf } from "../../../lib/http/network-address.ts";
import { newId } from "../../../lib/ids.ts";
import { account } from "../../../middlewares/audit.ts";
import { reportChange } from "../../../middlewares/live-changes.ts";
import { deletion } from "../../../mixins/due.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import { HourlyBudget } from "../../../storage/hourly-budget.ts";
import { INSTALLATION } from "../../../storage/model.ts";
import { action, internal, type ServiceFactory } from "../../runtime.ts";
import { findAgent } from "../agents/find-agent.ts";
import { approvalBy, issuedNow, isValidKey } from "../keys/approval.ts";
import { originOf } from "../tenants/origin.ts";
import { maySeeDevices, ownAgent, scopesToIssue } from "./agent-access.ts";
import { Codes } from "./codes.ts";
import * as contract from "./devices.contract.ts";
import { ClaimBudgetModel, type DeviceCodeDoc, DeviceCodeModel, SessionModel } from "./devices.model.ts";

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
