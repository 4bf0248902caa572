import type { Call } from "../../../lib/access/caller.ts";
import { invalidValue, notFound } from "../../../lib/contract/faults.ts";
import { parseExact } from "../../../lib/json/json.ts";
import type { CallOf, Runtime } from "../../runtime.ts";
import type { Loaded } from "../deliveries/recent-events.ts";
import { idOfSender } from "./delivery-id.ts";
import type * as contract from "./ingest.contract.ts";
import type { LoggedRequest, WebhookDoc } from "./ingest.model.ts";
import type { MappedHeaders } from "./mapping.ts";
import { readPayload } from "./payload.ts";
import type { RequestLog } from "./request-log.ts";
import { compileWebhookMapping, loadSlug, type Webhooks, webhookPath } from "./webhooks.ts";

/** A request to try a mapping on. */
interface Sample {
  payload: unknown;
  headers: MappedHeaders;
}

/** In place of an id that only the creation gives. */
const NEW_ID = "whk_new";

/** Tries mappings, saved or not, without publishing anything. */
export class MappingTests {
  readonly #runtime: Runtime;
  readonly #webhooks: Webhooks;
  readonly #log: RequestLog;

  constructor(runtime: Runtime, webhooks: Webhooks, log: RequestLog) {
    this.#runtime = runtime;
    this.#webhooks = webhooks;
    this.#log = log;
  }

  async testMapping(ctx: CallOf<typeof contract.testWebhookMapping>) {
    const { source, mapping } = ctx.params;
    return this.#map(ctx, { _id: NEW_ID, source, mapping }, sampleIn(ctx.params));
  }

  async test(ctx: CallOf<typeof contract.testWebhook>) {
    const webhook = await this.#webhooks.find(ctx);
    const { mapping = webhook.mapping, request_id } = ctx.params;
    const sample =
      request_id === undefined ? sampleIn(ctx.params) : await this.#received(ctx, webhook, request_id);
    return this.#map(ctx, { ...webhook, mapping }, sample);
  }

  async #map(
    ctx: Call,
    webhook: Pick<WebhookDoc, "_id" | "source" | "mapping">,
    { payload, headers }: Sample,
  ) {
    const mapped = compileWebhookMapping(webhook)(payload, {
      registration_id: webhook._id,
      default_id: idOfSender(webhook, headers) ?? "sha256:of-the-body",
      ce_source: webhookPath(await loadSlug(ctx), webhook.source),
      headers,
      now: this.#runtime.store.now(),
    });
    return { event: null, error: null, ...mapped };
  }

  /** Returns one of the webhook's last requests, from its event or its dead letter. */
  async #received(ctx: Call, { _id, tenant_id }: WebhookDoc, request_id: string): Promise<Sample> {
    const requests = await this.#log.list(tenant_id, _id);
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

/** @param given a form is given as its text */
function sampleIn(given: { payload?: unknown; headers?: Record<string, string> }): Sample {
  const named = Object.entries(given.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  const headers: Record<string, string> = Object.fromEntries(named);
  const { payload } = given;
  if (payload === undefined) throw invalidValue("payload", "payload: expected the body of a request.");
  if (typeof payload !== "string") return { payload, headers };
  const read = readPayload(Buffer.from(payload), headers["content-type"]);
  return { payload: "payload" in read ? read.payload : payload, headers };
}
