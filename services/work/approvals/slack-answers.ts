import { randomBytes } from "node:crypto";
import { SignatureCheck } from "../../../connectors/webhook-signature.ts";
import { Fault, invalidValue } from "../../../lib/contract/faults.ts";
import type { TenantState } from "../../identity/tenants/tenants.contract.ts";
import type { CallOf } from "../../runtime.ts";
import { parseAsked } from "./approvals.model.ts";
import { type Approvals, settledAlready } from "./approvals.ts";
import type * as contract from "./slack.contract.ts";
import type { Slack, SlackChannel } from "./slack.ts";
import { closedMessage, noteMessage, type SlackMessage } from "./slack-message.ts";

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

export class SlackAnswers {
  readonly #approvals: Approvals;
  readonly #slack: Slack;
  readonly #decoy = randomBytes(32).toString("hex");

  constructor(approvals: Approvals, slack: Slack) {
    this.#approvals = approvals;
    this.#slack = slack;
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
    if (URL.parse(click.response_url)?.origin === new URL(channel.webhook_url).origin)
      await this.#slack.post(
        ...([channel.tenant_id, click.response_url, message] as const),
        AbortSignal.timeout(RESPONSE_MS),
      );
    return message;
  }

  /** @throws Fault authentication_failed, the same for a tenant or channel that does not exist */
  async #requireSigned(ctx: CallOf<typeof contract.answerBySlack>, body: Buffer): Promise<SlackChannel> {
    const { tenant_slug: slug, headers } = ctx.params;
    const tenant = await ctx.call<TenantState | null, unknown>("tenants.by_slug", { slug });
    const channel = await this.#slack.find(tenant?.status === "active" ? tenant.id : NOBODY);
    const check = new SignatureCheck({ body, headers }, this.#approvals.now());
    const verdict = check.verify([channel?.signing_secret ?? this.#decoy], ["slack"]);
    if (channel && "signature" in verdict) return channel;
    const why = "refused" in verdict ? verdict.refused : "signature does not match";
    const message = `The request is not signed by the Slack app of this address: ${why}. Check the signing secret and the clock.`;
    throw new Fault("authentication_failed", message);
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
