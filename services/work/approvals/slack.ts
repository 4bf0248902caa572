import { AddressRefused, assertPublicUrl, hostOf } from "../../../connectors/address-guard.ts";
import { type PushResult, PushSender } from "../../../connectors/push-sender.ts";
import type { Call } from "../../../lib/access/caller.ts";
import { invalidValue, requireFound } from "../../../lib/contract/faults.ts";
import { shareOf } from "../../../lib/queue/fair-queue.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { findTenant } from "../../identity/tenants/find-tenants.ts";
import { originOf } from "../../identity/tenants/origin.ts";
import type { CallOf, Runtime } from "../../runtime.ts";
import { ADMINS } from "./approvals.contract.ts";
import { requireAssignees } from "./assignees.ts";
import type * as contract from "./slack.contract.ts";
import { type SlackChannelDoc, SlackChannelModel, type SlackSecrets, slackPlace } from "./slack.model.ts";
import type { SlackMessage } from "./slack-message.ts";

const TIMEOUT_MS = 10_000;

/** A tenant's channel with its secrets. */
export type SlackChannel = SlackChannelDoc & SlackSecrets;

/** The tenants' Slack channels, and messages to them. */
export class Slack {
  readonly #runtime: Runtime;
  readonly #rows: TenantCollection<SlackChannelDoc>;
  readonly #sender: PushSender;

  constructor(runtime: Runtime) {
    const { store, resolver, config } = runtime;
    this.#runtime = runtime;
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
    const { config, resolver, secrets, store } = this.#runtime;
    const resolve = (host: string) => resolver.resolve(host, shareOf(ctx.meta.caller));
    await assertPublicUrl(webhook_url, { allowPrivate: config.PUSH_ALLOW_PRIVATE, resolve }).catch((err) => {
      const unless = err instanceof AddressRefused ? " unless the operator sets PUSH_ALLOW_PRIVATE" : "";
      throw invalidValue("webhook_url", `webhook_url: ${err.message}${unless}.`);
    });
    await requireAssignees(ctx, tenant_id, "assignees", assignees);
    const text = JSON.stringify({ webhook_url, signing_secret } satisfies SlackSecrets);
    const sealed = secrets.seal(text, slackPlace(tenant_id));
    const $set = { sealed, assignees, last_error: null, updated_at: new Date(store.now()) };
    await this.#rows.upsert([{ filter: { _id: tenant_id, tenant_id }, update: { $set } }]);
    return this.get(ctx);
  }

  /** @throws Fault not_found */
  async get(ctx: Call) {
    const { tenant_id } = ctx.meta.caller;
    const found = requireFound(await this.find(tenant_id), "approval_channel", "slack");
    const { assignees, last_error, updated_at } = found;
    const [tenant, origin] = await Promise.all([
      findTenant(ctx, tenant_id),
      originOf(ctx.broker, this.#runtime.config),
    ]);
    return {
      ...{ host: hostOf(found.webhook_url), request_url: `${origin}/slack/${tenant?.slug}`, assignees },
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

  /** Resolves to the outcome; never rejects. @param url the webhook's or a `response_url` */
  post(tenant_id: string, url: string, message: SlackMessage, signal: AbortSignal): Promise<PushResult> {
    const content = {
      headers: { "Content-Type": "application/json" },
      body: Buffer.from(JSON.stringify(message)),
    };
    return this.#sender.post({ share: { tenant_id, caller: "slack" }, url, content, signal });
  }

  close(): Promise<void> {
    return this.#sender.close();
  }
}
