import type { ServiceFactory } from "../runtime.ts";
import { WebhookModel } from "./webhooks.model.ts";
import { receiveActions } from "./webhooks.receive.ts";
import { registerActions } from "./webhooks.register.ts";

/** The inlet for what other systems send over HTTP (spec: Events 3). */
export const ingestService: ServiceFactory = (runtime) => {
  const webhooks = runtime.store.collection(WebhookModel);
  return {
    name: "ingest",
    actions: { ...registerActions(runtime, webhooks), ...receiveActions(runtime, webhooks) },
  };
};
