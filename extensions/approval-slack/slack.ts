import { randomBytes } from "node:crypto";
import { hostOf } from "../../connectors/address-guard.ts";
import { outcomeOf, type PushResult, PushSender } from "../../connectors/push-sender.ts";
import { newVerify } from "../../connectors/webhook-signature.ts";
import type { Call } from "../../lib/access/caller.ts";
import { invalidValue, requireFound, unauthenticated } from "../../lib/contract/faults.ts";
import { shareOf } from "../../lib/queue/fair-queue.ts";
import { SENDERS } from "../../lib/webhooks/senders.ts";
import { findTenant } from "../../services/identity/tenants/find-tenants.ts";
import { originOf } from "../../services/identity/tenants/origin.ts";
import type { TenantState } from "../../services/identity/tenants/tenants.contract.ts";
import { requirePublicUrl } from "../../services/outgoing.ts";
import { action, type CallOf, type Runtime } from "../../services/runtime.ts";
import { ADMINS } from "../../services/work/approvals/approvals.contract.ts";
import { settledAlready } from "../../services/work/approvals/approvals.ts";
import { parseAsked, requireAssignees } from "../../services/work/approvals/assignees.ts";
import type { ApprovalChannel, Question, Settling } from "../../services/work/approvals/channel.ts";
import type { TenantCollection } from "../../storage/collection.ts";
import { closedMessage, noteMessage, questionMessage, type SlackMessage } from "./message.ts";
import * as contract from "./slack.contract.ts";
import { type SlackChannelDoc, SlackChannelModel, type SlackSecrets, slackPlace } from "./slack.model.ts";

const TIMEOUT_MS = 10_000;

/** A tenant without a channel: an unknown slug costs the same look-ups as a known one. */
const NOBODY = "tn_";
/** Slack shows an error to the person when an answer takes 3 s. */
const RESPONSE_MS = 2000;
const USER = /^[UW][A-Z0-9]{1,40}$/;

/** A click on a button, as Slack sends it. */
interface Click {
  user: string;
  /** Absent of a button that is a link. */
  value?: string | undefined;
  response_url: string;
}

/** A tenant's channel with its secrets. */
type SlackChannel = SlackChannelDoc & SlackSecrets;

/** The tenants' Slack channels, messages to them, and answers from there. */
export class Slack implements ApprovalChannel {
  readonly #runtime: Omit<Runtime, "hooks">;
  readonly #rows: TenantCollection<SlackChannelDoc>;
  readonly #sender: PushSender;
  readonly #approvals: Settling;
  readonly #decoy = randomBytes(32).toString("hex");
  readonly actions = {
    set_slack: action(contract.setApprovalSlack, (ctx) => this.set(ctx)),
    get_slack: action(contract.getApprovalSlack, (ctx) => this.get(ctx)),
    delete_slack: action(contract.deleteApprovalSlack, (ctx) => this.delete(ctx)),
    answer_slack: action(contract.answerBySlack, (ctx) => this.answer(ctx)),
  };

  constructor(runtime: Omit<Runtime, "hooks">, approvals: Settling) {
    const { store, resolver, config } = runtime;
    this.#runtime = runtime;
    this.#approvals = approvals;
    this.#rows = store.collection(SlackChannelModel);
    const allowPrivate = config.PUSH_ALLOW_PRIVATE;
    this.#sender = new PushSender({ resolver, allowPrivate, timeoutMs: TIMEOUT_MS });
  }

  /** @throws Fault validation_error */
  async set(ctx: CallOf<typeof contract.setApprovalSlack>) {
    const { tenant_id } = ctx.meta.caller;
    const known = await this.find(tenant_id);
    const { webhook_url = known?.webhook_url ?? "", signing_secret = known?.signing_secret ?? "" } =
      ctx.params;
    const { assignees = known?.assignees ?? [ADMINS] } = ctx.params;
    for (const [field, value] of Object.entries({ webhook_url, signing_secret }))
      if (!value) throw invalidValue(field, `${field}: required, because no channel is set yet.`);
    await requirePublicUrl(this.#runtime, shareOf(ctx.meta.caller), "webhook_url", webhook_url);
    await requireAssignees(ctx, tenant_id, "assignees", assignees);
    const text = JSON.stringify({ webhook_url, signing_secret } satisfies SlackSecrets);
    const { secrets, store } = this.#runtime;
    const sealed = secrets.seal(text, slackPlace(tenant_id));
    const $set = { sealed, assignees, last_error: null, updated_at: new Date(store.now()) };
    await this.#rows.upsert([{ filter: { _id: tenant_id, tenant_id }, update: { $set } }]);
    return this.get(ctx);
  }

  /** @throws Fault not_found */
  async get(ctx: Call) {
    const { tenant_id } = ctx.meta.caller;
    const channel = requireFound(await this.find(tenant_id), "approval_channel", "slack");
    const { assignees, last_error, updated_at } = channel;
    const [tenant, origin] = await Promise.all([
      findTenant(ctx, tenant_id),
      originOf(ctx.broker, this.#runtime.config),
    ]);
    return {
      ...{ host: hostOf(channel.webhook_url), request_url: `${origin}/slack/${tenant?.slug}`, assignees },
      ...{ last_error, updated_at: updated_at.toISOString() },
    };
  }

  /** @throws Fault not_found */
  async delete({ meta: { caller } }: Call): Promise<void> {
    const { tenant_id } = caller;
    requireFound(await this.#rows.delete(tenant_id, { _id: tenant_id }), "approval_channel", "slack");
  }

  async find(tenant_id: string): Promise<SlackChannel | null> {
    const row = await this.#rows.findOne(tenant_id, { _id: tenant_id });
    return row && { ...row, ...JSON.parse(this.#runtime.secrets.open(row.sealed, slackPlace(row._id))) };
  }

  /** Records how the last message went, if that is new. */
  async report({ tenant_id, last_error: known }: SlackChannel, last_error: string | null): Promise<void> {
    if (known !== last_error)
      await this.#rows.update(tenant_id, { _id: tenant_id }, { $set: { last_error } });
  }

  /** Posts the question, unless it was; again once it is escalated, for those who may answer then. */
  async send({ row, origin, signal, age, tell }: Question): Promise<number | null> {
    const { tenant_id, assigned } = row;
    const mark = row.escalated_at ? "slack after escalation" : "slack";
    const channel = row.told.includes(mark) ? null : await this.find(tenant_id);
    if (!channel?.assignees.some((each) => assigned.includes(each))) return null;
    const message = questionMessage(row, origin);
    const outcome = outcomeOf(await this.post(tenant_id, channel.webhook_url, message, signal));
    if (outcome.do === "release") return 0;
    if (outcome.do === "acknowledge") {
      await this.report(channel, null);
      await tell(mark);
      return null;
    }
    await this.report(channel, "reason" in outcome ? outcome.reason : "the endpoint responded with 410");
    return (outcome.do === "retry" && outcome.delay_seconds) || age;
  }

  /** Resolves to the outcome; never rejects. @param url the webhook's or a `response_url` */
  post(tenant_id: string, url: string, message: SlackMessage, signal: AbortSignal): Promise<PushResult> {
    const content = {
      headers: { "Content-Type": "application/json" },
      body: Buffer.from(JSON.stringify(message)),
    };
    return this.#sender.post({ share: { tenant_id, caller: "slack" }, url, content, signal });
  }

  /** @throws Fault authentication_failed, validation_error */
  async answer(ctx: CallOf<typeof contract.answerBySlack>): Promise<SlackMessage> {
    const { raw } = ctx.params;
    const body = Buffer.from(raw, "base64");
    const channel = await this.#requireSigned(ctx, body);
    const click = readClick(body);
    if (click.value === undefined) return {};
    const message = await this.#settle(ctx, channel, click.user, click.value);
    // Nowhere else: the address comes with the request.
    if (URL.parse(click.response_url)?.origin === new URL(channel.webhook_url).origin) {
      const { tenant_id } = channel;
      await this.post(tenant_id, click.response_url, message, AbortSignal.timeout(RESPONSE_MS));
    }
    return message;
  }

  /** @throws Fault authentication_failed, the same for a tenant or channel that does not exist */
  async #requireSigned(ctx: CallOf<typeof contract.answerBySlack>, body: Buffer): Promise<SlackChannel> {
    const { tenant_slug: slug, headers } = ctx.params;
    const tenant = await ctx.call<TenantState | null, unknown>("tenants.by_slug", { slug });
    const channel = await this.find(tenant?.status === "active" ? tenant.id : NOBODY);
    const verify = newVerify({ body, headers }, this.#approvals.now());
    const verdict = verify([channel?.signing_secret ?? this.#decoy], SENDERS.get("slack")?.schemes);
    if (channel && "signature" in verdict) return channel;
    const why = "refused" in verdict ? verdict.refused : "signature does not match";
    const message = `The request is not signed by the Slack app of this address: ${why}. Check the signing secret and the clock.`;
    throw unauthenticated(message);
  }

  async #settle(
    ctx: CallOf<typeof contract.answerBySlack>,
    { tenant_id, assignees }: SlackChannel,
    slack_user: string,
    value: string,
  ): Promise<SlackMessage> {
    const { rows } = this.#approvals;
    const [_id = "", position = ""] = value.split(".");
    const doc = await rows.findOne(tenant_id, { _id, assigned: { $in: assignees } });
    const choice = doc && parseAsked(doc).choices[Number(position || -1)];
    if (!doc || !choice)
      return noteMessage("This question cannot be answered here: it was deleted, or is asked of others.");
    const decision = {
      ...{ choice, answer_text: null, answered_by_user_id: null },
      ...{ answered_by: "slack" as const, answered_by_slack_user: slack_user },
    };
    const answered = await this.#approvals.settle(doc, "answered", decision);
    if (!answered) {
      const there = (await rows.findOne(tenant_id, { _id })) ?? doc;
      return closedMessage(there, settledAlready(there).message);
    }
    await ctx.call("audit.record", {
      ...{ tenant_id, action: "approvals.answer_slack", resource_type: "approval", resource_id: _id },
      ...{ actor_kind: "service", details: { choice, slack_user }, dedupe: _id },
    });
    return closedMessage(answered);
  }

  stop(): Promise<void> {
    return this.#sender.close();
  }
}

/** @throws Fault validation_error */
function readClick(body: Buffer): Click {
  try {
    const payload = JSON.parse(new URLSearchParams(body.toString("utf8")).get("payload") ?? "");
    const { type, user, response_url, actions } = payload;
    const value = actions[0].value;
    if (type === "block_actions" && USER.test(user.id) && ["string", "undefined"].includes(typeof value))
      return { user: user.id, value, response_url: String(response_url) };
  } catch {
    // Refused as below.
  }
  throw invalidValue(
    "payload",
    "payload: expected the JSON of a click on a button (block_actions) of Slack.",
  );
}
