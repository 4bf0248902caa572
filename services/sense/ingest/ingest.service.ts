import { ServiceLoop } from "../../../mixins/loop.ts";
import type { ServiceFactory } from "../../runtime.ts";
import { FirstIds } from "./first-ids.ts";
import { receiveActions } from "./receive.ts";
import { registerActions } from "./register.ts";
import { WebhookBodyModel } from "./webhook-bodies.model.ts";
import { WebhookModel } from "./webhooks.model.ts";

const SWEEP_MS = 600_000;

/** Receives other systems' webhooks over HTTP (spec: Events 3). */
export const ingestService: ServiceFactory = (runtime) => {
  const { store } = runtime;
  const webhooks = store.collection(WebhookModel);
  const firstIds = new FirstIds(store.collection(WebhookBodyModel), () => store.now());
  const sweep = new ServiceLoop(
    () => firstIds.sweep(),
    SWEEP_MS,
    "ingest: old bodies stay until the next sweep",
  );
  return {
    name: "ingest",
    mixins: [sweep.mixin],
    actions: { ...registerActions(runtime, webhooks), ...receiveActions(runtime, webhooks, firstIds) },
  };
};
