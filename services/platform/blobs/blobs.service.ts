import type { ServiceBroker } from "moleculer";
import { HOUR_MS } from "../../../lib/time.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import type { InUse } from "../../../storage/blobs/blobs.ts";
import { idempotent, type ServiceFactory } from "../../runtime.ts";
import { UnusedTwice } from "./unused-twice.ts";

/**
 * Domains whose rows reference blobs: each offers `blob_references {tenant_id, hashes}`, which returns the hashes in
 * use.
 */
const OWNERS = ["documents", "exemplars", "idempotency", "outputs", "runs", "state"];

/** New blobs are kept this long: their row may not be written yet. */
const KEPT_MS = HOUR_MS;

/** Deletes unused blobs. While an owner cannot be asked, nothing is deleted. */
export const blobsService: ServiceFactory = ({ store, blobs }) => {
  let broker: ServiceBroker;
  const inUse: InUse = async (tenant_id, hashes) => {
    const ask = (owner: string) => broker.call(`${owner}.blob_references`, { tenant_id, hashes });
    return ((await Promise.all(OWNERS.map(ask))) as string[][]).flat();
  };
  const unused = new UnusedTwice(inUse);
  const sweep = new SharedLoop("sweep", sweepBlobs, HOUR_MS, "blobs: the sweep failed and will be retried");

  async function sweepBlobs({ logger }: ServiceBroker): Promise<boolean> {
    unused.begin();
    const swept = await blobs.sweep(store.now() - KEPT_MS, unused.stay);
    if (swept) logger.info({ swept }, "unreferenced blobs were deleted");
    return false;
  }

  return {
    name: "blobs",
    mixins: [sweep.mixin],
    actions: {
      /** Deletes blobs without references at once. */
      erase: idempotent<{ tenant_id: string; hashes: string[] }>(
        async ({ params: { tenant_id, hashes } }) => {
          const used = new Set(await inUse(tenant_id, hashes));
          await blobs.delete(
            tenant_id,
            hashes.filter((hash) => !used.has(hash)),
          );
        },
      ),
    },

    created() {
      broker = this.broker;
    },
  };
};
