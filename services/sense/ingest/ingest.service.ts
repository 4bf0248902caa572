import type { Call } from "../../../lib/access/caller.ts";
import { invalidValue, notFound } from "../../../lib/contract/faults.ts";
import { parseExact } from "../../../lib/json/json.ts";
import { deletion } from "../../../mixins/due.ts";
import { working } from "../../../mixins/loop.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import { action, idempotent, internal, type ServiceFactory } from "../../runtime.ts";
import type { Again } from "../deliveries/deliveries.model.ts";
import type { Loaded } from "../interests/explain.ts";
import { idOfSender } from "./delivery-id.ts";
import * as contract from "./ingest.contract.ts";
import {
  type LoggedRequest,
  WebhookBodyModel,
  type WebhookDoc,
  WebhookLogModel,
  WebhookModel,
} from "./ingest.model.ts";
import type { MappedHeaders } from "./mapping.ts";
import { readPayload } from "./payload.ts";
import { Receiver } from "./receive.ts";
import { RequestLog } from "./request-log.ts";
import { compileWebhookMapping, loadSlug, Webhooks, webhookPath } from "./webhooks.ts";

const SWEEP_MS = 600_000;
const LOG_FAILED = "ingest: the last requests of webhooks could not be recorded; retried in 1 s";

/** Receives other systems' webhooks over HTTP (spec: Events 3). */
export const ingestService: ServiceFactory = (runtime) => {
  const rows = runtime.store.collection(WebhookModel);
  const report = (err: unknown) => runtime.log.warn({ err }, LOG_FAILED);
  const log = new RequestLog({ logs: runtime.store.collection(WebhookLogModel), webhooks: rows, report });
  const webhooks = new Webhooks(runtime, rows, log);
  const receiver = new Receiver(runtime, rows, log);
  const bodies = runtime.store.collection(WebhookBodyModel);
  const expired = deletion({ rows: bodies, by: "expires_at", now: runtime.store.now });
  const sweep = new SharedLoop("sweep", expired, SWEEP_MS);

  return {
    name: "ingest",
    mixins: [sweep.mixin, working(() => [log])],
    actions: {
      create_webhook: action(contract.createWebhook, (ctx) => webhooks.create(ctx)),
      list_webhooks: action(contract.listWebhooks, (ctx) => webhooks.list(ctx)),
      update_webhook: action(contract.updateWebhook, (ctx) => webhooks.update(ctx)),
      delete_webhook: action(contract.deleteWebhook, (ctx) => webhooks.delete(ctx)),
      rotate_webhook: action(contract.rotateWebhookSecret, (ctx) => webhooks.rotate(ctx)),
      test_mapping: action(contract.testWebhookMapping, (ctx) => {
        const { source, mapping } = ctx.params;
        return tryMapping(ctx, { _id: NEW_ID, source, mapping }, sampleIn(ctx.params), runtime.store.now());
      }),
      test_webhook: action(contract.testWebhook, async (ctx) => {
        const webhook = await webhooks.find(ctx);
        const { mapping = webhook.mapping, request_id: id } = ctx.params;
        const sample = id === undefined ? sampleIn(ctx.params) : await loadSample(ctx, log, webhook, id);
        return tryMapping(ctx, { ...webhook, mapping }, sample, runtime.store.now());
      }),
      list_requests: action(contract.listWebhookRequests, (ctx) => webhooks.requests(ctx)),

      receive: action(contract.receiveWebhook, (ctx) => receiver.receive(ctx)),
      receive_from: action(contract.receiveWebhookFromSource, (ctx) => receiver.receive(ctx)),
      verify: action(contract.verifyWebhook, (ctx) => receiver.verify(ctx)),
      verify_for: action(contract.verifyWebhookForSource, (ctx) => receiver.verify(ctx)),
      validate: action(contract.validateWebhookOrigin, (ctx) => receiver.permit(ctx)),
      validate_for: action(contract.validateWebhookOriginForSource, (ctx) => receiver.permit(ctx)),
      map_again: idempotent<Again>((ctx) => receiver.mapAgain(ctx)),
      /** Writes what this node has gathered, before texts are erased. */
      flush: internal<object>(() => log.write()),
    },
  };
};

interface Sample {
  payload: unknown;
  headers: MappedHeaders;
}

/** In place of an id that only the creation gives. */
const NEW_ID = "whk_new";

/** Tries a mapping, saved or not, without publishing anything. */
async function tryMapping(
  ctx: Call,
  webhook: Pick<WebhookDoc, "_id" | "source" | "mapping">,
  { payload, headers }: Sample,
  now: number,
) {
  const mapped = compileWebhookMapping(webhook)(payload, {
    registration_id: webhook._id,
    default_id: idOfSender(webhook, headers) ?? "sha256:of-the-body",
    ce_source: webhookPath(await loadSlug(ctx), webhook.source),
    ...{ headers, now },
  });
  return { event: null, error: null, ...mapped };
}

/** Returns one of a webhook's last requests, from its event or its dead letter. */
async function loadSample(
  ctx: Call,
  log: RequestLog,
  { _id, tenant_id }: WebhookDoc,
  request_id: string,
): Promise<Sample> {
  const requests = await log.list(tenant_id, _id);
  const request = requests.find((each) => each.request_id === request_id);
  if (!request) throw notFound("webhook_request", request_id);
  const payload = await loadPayload(ctx, tenant_id, _id, request);
  if (payload === undefined)
    throw invalidValue(
      "request_id",
      "request_id: the body of this request is not kept, or only in part. Send `payload` and `headers` instead.",
    );
  return { payload, headers: request.headers };
}

async function loadPayload(
  ctx: Call,
  tenant_id: string,
  webhook_id: string,
  request: LoggedRequest,
): Promise<unknown> {
  const { dead_letter_id: id, event_id, event_is } = request;
  if (id !== null) return ctx.call<unknown, unknown>("deliveries.unmapped_payload", { tenant_id, id });
  if (event_id === null || event_is === "part") return undefined;
  const [loaded] = await ctx.call<Loaded[], unknown>("events.load", { tenant_id, event_ids: [event_id] });
  if (!loaded) return undefined;
  const event = parseExact(loaded.envelope);
  return event_is === "data" ? event.data : { ...event, id: event.id.replace(`${webhook_id}:`, "") };
}

/** @param sample a form is given as its text */
function sampleIn(sample: { payload?: unknown; headers?: Record<string, string> }): Sample {
  const named = Object.entries(sample.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  const headers: Record<string, string> = Object.fromEntries(named);
  const { payload } = sample;
  if (payload === undefined) throw invalidValue("payload", "payload: expected the body of a request.");
  if (typeof payload !== "string") return { payload, headers };
  const read = readPayload(Buffer.from(payload), headers["content-type"]);
  return { payload: "payload" in read ? read.payload : payload, headers };
}
