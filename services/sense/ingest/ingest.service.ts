import { working } from "../../../mixins/loop.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import { action, idempotent, internal, type ServiceFactory } from "../../runtime.ts";
import * as contract from "./ingest.contract.ts";
import { WebhookLogModel, WebhookModel } from "./ingest.model.ts";
import { MappingTests } from "./mapping-tests.ts";
import * as receiving from "./receive.contract.ts";
import { type Again, Receiver } from "./receive.ts";
import { RequestLog } from "./request-log.ts";
import { Webhooks } from "./webhooks.ts";

const SWEEP_MS = 600_000;
const LOG_FAILED = "ingest: the last requests of webhooks could not be recorded; retried in 1 s";

/** Receives other systems' webhooks over HTTP (spec: Events 3). */
export const ingestService: ServiceFactory = (runtime) => {
  const rows = runtime.store.collection(WebhookModel);
  const report = (err: unknown) => runtime.log.warn({ err }, LOG_FAILED);
  const log = new RequestLog({ logs: runtime.store.collection(WebhookLogModel), webhooks: rows, report });
  const webhooks = new Webhooks(runtime, rows, log);
  const tests = new MappingTests(runtime, webhooks, log);
  const receiver = new Receiver(runtime, rows, log);
  const sweep = new SharedLoop("sweep", () => receiver.firstIds.sweep(), SWEEP_MS);

  return {
    name: "ingest",
    mixins: [sweep.mixin, working(() => [log])],
    actions: {
      create_webhook: action(contract.createWebhook, (ctx) => webhooks.create(ctx)),
      list_webhooks: action(contract.listWebhooks, (ctx) => webhooks.list(ctx)),
      update_webhook: action(contract.updateWebhook, (ctx) => webhooks.update(ctx)),
      delete_webhook: action(contract.deleteWebhook, (ctx) => webhooks.delete(ctx)),
      rotate_webhook: action(contract.rotateWebhookSecret, (ctx) => webhooks.rotate(ctx)),
      test_mapping: action(contract.testWebhookMapping, (ctx) => tests.testMapping(ctx)),
      test_webhook: action(contract.testWebhook, (ctx) => tests.test(ctx)),
      list_requests: action(contract.listWebhookRequests, (ctx) => webhooks.requests(ctx)),

      receive: action(receiving.receiveWebhook, (ctx) => receiver.receive(ctx)),
      receive_from: action(receiving.receiveWebhookFromSource, (ctx) => receiver.receive(ctx)),
      verify: action(receiving.verifyWebhook, (ctx) => receiver.verify(ctx)),
      verify_for: action(receiving.verifyWebhookForSource, (ctx) => receiver.verify(ctx)),
      validate: action(receiving.validateWebhookOrigin, (ctx) => receiver.permit(ctx)),
      validate_for: action(receiving.validateWebhookOriginForSource, (ctx) => receiver.permit(ctx)),
      map_again: idempotent<Again>((ctx) => receiver.mapAgain(ctx)),
      /** Writes what this node has gathered, before texts are erased. */
      flush: internal<object>(() => log.write()),
    },
  };
};
