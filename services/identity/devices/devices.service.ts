import type { Call } from "../../../lib/access/caller.ts";
import { Fault, notFound } from "../../../lib/contract/faults.ts";
import { networkOf } from "../../../lib/http/network-address.ts";
import { newId } from "../../../lib/ids.ts";
import { account } from "../../../mixins/audited.ts";
import { ServiceLoop } from "../../../mixins/loop.ts";
import { tellLive } from "../../edge/live/live-change.ts";
import { action, type ServiceFactory } from "../../runtime.ts";
import { originOf } from "../tenants/origin.ts";
import { findAgent, maySeeDevices, ownAgent } from "./agent-access.ts";
import { ClaimBudget } from "./claim-budget.ts";
import { scopesToIssue } from "./code-scopes.ts";
import { Codes } from "./codes.ts";
import {
  claimCode,
  completeClaim,
  confirmClaim,
  deviceStatus,
  issueCode,
  lookUpCode,
} from "./devices.contract.ts";
import { ClaimBudgetModel, type DeviceCodeDoc, DeviceCodeModel, SessionModel } from "./devices.model.ts";

const SWEEP_MS = 5 * 60_000;
/** How long the status reports the outcome of a code. */
const KEPT_MS = 24 * 60 * 60_000;

/** Connects an agent's device: issue, claim, confirm, complete (spec: Device connection code). */
export const devicesService: ServiceFactory = (runtime) => {
  const { store, secrets, config } = runtime;
  const rows = store.collection(DeviceCodeModel);
  const sessions = store.collection(SessionModel);
  const budgets = store.collection(ClaimBudgetModel);
  const codes = new Codes(rows, secrets);
  const budget = new ClaimBudget(budgets, config.DEVICE_CLAIMS_PER_HOUR);
  const sweep = new ServiceLoop(removeOld, SWEEP_MS, "sweep of device codes failed");

  const takeTry = ({ meta }: Call) =>
    budget.take(codes.digest("address", networkOf(meta.ip ?? "")), store.now());

  /**
   * The session exists from the approval on, and is removed unless the device fetches its key (spec: claimed →
   * approved).
   */
  async function openSession(code: DeviceCodeDoc): Promise<void> {
    const at = new Date(store.now());
    const { name, version } = code.client_info ?? { name: "", version: "" };
    await sessions.insertOnce({
      ...{ _id: code.session_id, tenant_id: code.tenant_id, agent_id: code.agent_id, key_id: null },
      ...{ client_name: name, client_version: version, connected_at: at, last_seen_at: at },
      ...{ last_heartbeat_at: null, fetch_by: code.expires_at },
    });
  }

  async function removeOld(): Promise<boolean> {
    const now = store.now();
    await rows.system.deleteMany({ expires_at: { $lt: new Date(now - KEPT_MS) } });
    await budgets.system.deleteMany({ ends_at: { $lt: new Date(now) } });
    return false;
  }

  return {
    name: "devices",
    mixins: [sweep.mixin],
    actions: {
      issue: action(issueCode, async (ctx) => {
        const agent = await ownAgent(ctx, ctx.params.agent_id);
        const now = store.now();
        const scopes = scopesToIssue(ctx.meta.caller, ctx.params.scopes);
        const code = await codes.issue(agent, scopes, { now, seed: ctx.meta.idempotency_seed });
        const verification_uri = `${await originOf(ctx.broker, config)}/connect`;
        return {
          ...codes.present(code, now),
          verification_uri,
          verification_uri_complete: `${verification_uri}?code=${codes.textOf(code)}`,
        };
      }),

      status: action(deviceStatus, async (ctx) => {
        const { agent_id } = ctx.params;
        const byPerson = ctx.meta.caller.kind === "user";
        const { tenant_id } = await ownAgent(ctx, agent_id);
        const code = await codes.newest(tenant_id, agent_id);
        if (!code) throw notFound("device_code", agent_id);
        return codes.status(code, store.now(), byPerson);
      }),

      claim: action(claimCode, async (ctx) => {
        const { user_code, client_info } = ctx.params;
        await takeTry(ctx);
        const claim_id = newId("clm");
        const code = await codes.claim(user_code, claim_id, client_info, store.now());
        if (!code) throw notFound("device_code", user_code);
        tellLive(ctx.broker, code.tenant_id, "device");
        return { claim_id };
      }),

      confirm: action(confirmClaim, async (ctx) => {
        const { agent_id, claim_id, action: decision } = ctx.params;
        const { tenant_id } = await ownAgent(ctx, agent_id);
        const now = store.now();
        const claim = await codes.byClaim(claim_id);
        if (
          claim?.tenant_id !== tenant_id ||
          claim.agent_id !== agent_id ||
          claim.expires_at.getTime() <= now
        ) {
          throw notFound("claim", claim_id);
        }
        const approve = decision === "approve";
        if (approve) assertMayApprove(ctx, claim);
        const decided = await codes.decide(claim, approve, confirmer(ctx), now);
        if (!decided) throw new Fault("conflict", "The claim was approved or rejected before.");
        if (approve) await openSession(decided);
        tellLive(ctx.broker, tenant_id, "device");
        account(ctx, { decision, scopes: claim.scopes });
        return { state: approve ? "approved" : "denied", confirmed_at: new Date(now).toISOString() };
      }),

      complete: action(completeClaim, async (ctx) => {
        const { claim_id } = ctx.params;
        const now = store.now();
        const claim = await codes.byClaim(claim_id);
        const open = claim && claim.expires_at.getTime() > now;
        if (open && claim.state === "claimed") {
          throw new Fault(
            "conflict",
            "The claim is not approved yet: ask again once a person has confirmed it.",
          );
        }
        if (!open || claim.state !== "approved") throw notFound("claim", claim_id);
        const { tenant_id, agent_id, session_id, scopes } = claim;
        // Issued before the claim is used up, and the same on each try: after a crash here the claim is still valid.
        const { key, key_id } = await ctx.call<{ key: string; key_id: string }, object>("keys.issue", {
          ...{ tenant_id, agent_id, scopes, seed: `device ${claim._id}` },
        });
        await openSession(claim);
        await sessions.update(
          tenant_id,
          { _id: session_id },
          { $set: { key_id, fetch_by: null, last_seen_at: new Date(now) } },
        );
        const token = await ctx.call<{ access_token: string; expires_at: string }, object>("auth.token", {
          api_key: key,
        });
        if (!(await codes.use(claim, now))) throw notFound("claim", claim_id);
        tellLive(ctx.broker, tenant_id, "device");
        const { access_token, expires_at } = token;
        return {
          session_id,
          agent_id,
          api_key: key,
          access_token,
          expires_at,
          server_now: new Date(now).toISOString(),
        };
      }),

      look_up: action(lookUpCode, async (ctx) => {
        await takeTry(ctx);
        const code = await codes.byCode(ctx.params.code, store.now());
        if (!code || !(await mayLookUp(ctx, code))) throw notFound("device_code", ctx.params.code);
        const { agent_id, scopes } = code;
        return { agent_id, ...(ctx.meta.caller && { scopes }) };
      }),
    },
  };
};

/** The code alone authorises its device; an authenticated caller must also have access. */
async function mayLookUp(ctx: Call, { tenant_id, agent_id }: DeviceCodeDoc): Promise<boolean> {
  const caller: Call["meta"]["caller"] | undefined = ctx.meta.caller;
  if (!caller) return true;
  if (caller.tenant_id !== tenant_id) return false;
  const agent = await findAgent(ctx, agent_id);
  return agent !== null && maySeeDevices(caller, agent);
}

function confirmer({ meta: { caller } }: Call): string {
  return caller.kind === "user" ? caller.user_id : caller.agent_id;
}

function assertMayApprove({ meta: { caller } }: Call, { scopes }: DeviceCodeDoc): void {
  if (!scopes.includes("admin") || (caller.kind === "user" && caller.role === "admin")) return;
  throw new Fault("forbidden", "A code with the scope admin is approved by an org admin.");
}
