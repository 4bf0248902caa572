import type { ServiceBroker } from "moleculer";
import { HOUR_MS } from "../../../lib/time.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import type { ServiceFactory } from "../../runtime.ts";
import { UnusedSinceLastSweep } from "./unused-since-last-sweep.ts";

/** New blobs are kept this long: their row may not be written yet. */
const KEPT_MS = HOUR_MS;

/**
 * Deletes unused blobs that a crash or a concurrent write has left. All others go with their last reference: see
 * `Model.blobs` and `writingBlobs`.
 */
export const blobsService: ServiceFactory = ({ store, blobs }) => {
  const unused = new UnusedSinceLastSweep((tenant_id, hashes) => blobs.inUse(tenant_id, hashes));
  const sweep = new SharedLoop("sweep", sweepBlobs, HOUR_MS, "blobs: the sweep failed and will be retried");

  async function sweepBlobs({ logger }: ServiceBroker): Promise<boolean> {
    unused.begin();
    const swept = await blobs.sweep(store.now() - KEPT_MS, unused.stay);
    if (swept) logger.info({ swept }, "unreferenced blobs were deleted");
    return false;
  }

  return { name: "blobs", mixins: [sweep.mixin] };
};
