import { SharedLoop } from "../../../mixins/shared.ts";
import { action, idempotent, type ServiceFactory } from "../../runtime.ts";
import * as contract from "./ingest.contract.ts";
import { WebhookModel } from "./ingest.model.ts";
import { type Again, Receiver } from "./receive.ts";
import { Webhooks } from "./webhooks.ts";

const SWEEP_MS = 600_000;
const SWEEP_FAILED = "ingest: old bodies could not be removed; the next sweep retries";

/** Receives other systems' webhooks over HTTP (spec: Events 3). */
export const ingestService: ServiceFactory = (runtime) => {
  const rows = runtime.store.collection(WebhookModel);
  const webhooks = new Webhooks(runtime, rows);
  const receiver = new Receiver(runtime, rows);
  const sweep = new SharedLoop("sweep", () => receiver.firstIds.sweep(), SWEEP_MS, SWEEP_FAILED);

  return {
    name: "ingest",
    mixins: [sweep.mixin],
    actions: {
      create_webhook: action(contract.createWebhook, (ctx) => webhooks.create(ctx)),
      list_webhooks: action(contract.listWebhooks, (ctx) => webhooks.list(ctx)),
      update_webhook: action(contract.updateWebhook, (ctx) => webhooks.update(ctx)),
      delete_webhook: action(contract.deleteWebhook, (ctx) => webhooks.delete(ctx)),
      rotate_webhook: action(contract.rotateWebhook, (ctx) => webhooks.rotate(ctx)),
      test_webhook: action(contract.testWebhook, (ctx) => webhooks.test(ctx)),

      receive: action(contract.receiveWebhook, (ctx) => receiver.receive(ctx)),
      receive_from: action(contract.receiveWebhookOf, (ctx) => receiver.receive(ctx)),
      validate: action(contract.validateWebhook, (ctx) => receiver.permit(ctx)),
      validate_for: action(contract.validateWebhookOf, (ctx) => receiver.permit(ctx)),
      map_again: idempotent<Again>((ctx) => receiver.mapAgain(ctx)),
    },
  };
};
