import type { ServiceFactory } from "../runtime.ts";
import { receiveActions } from "./receive.ts";
import { registerActions } from "./register.ts";
import { WebhookModel } from "./webhooks.model.ts";

/** The inlet for what other systems send over HTTP (spec: Events 3). */
export const ingestService: ServiceFactory = (runtime) => {
  const webhooks = runtime.store.collection(WebhookModel);
  return {
    name: "ingest",
    actions: { ...registerActions(runtime, webhooks), ...receiveActions(runtime, webhooks) },
  };
};
