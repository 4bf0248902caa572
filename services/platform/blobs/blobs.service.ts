import type { ServiceBroker } from "moleculer";
import { HOUR_MS } from "../../../lib/time.ts";
import { ServiceLoop } from "../../../mixins/loop.ts";
import type { InUse } from "../../../storage/blobs/blobs.ts";
import { idempotent, type ServiceFactory } from "../../runtime.ts";
import { Unneeded } from "./unneeded.ts";

/** Domains whose rows name blobs: each offers `blob_references {tenant_id, hashes}`, those of the hashes in use. */
const OWNERS = ["documents", "exemplars", "idempotency", "outputs", "runs"];

/** What was put is left alone for so long: its row may still be on the way. */
const KEPT_MS = HOUR_MS;

/** Deletes the blobs that nobody needs any more. While an owner cannot be asked, nothing is deleted. */
export const blobsService: ServiceFactory = ({ store, blobs }) => {
  let broker: ServiceBroker;
  const inUse: InUse = async (tenant_id, hashes) => {
    const ask = (owner: string) => broker.call(`${owner}.blob_references`, { tenant_id, hashes });
    return ((await Promise.all(OWNERS.map(ask))) as string[][]).flat();
  };
  const unneeded = new Unneeded(inUse);
  const sweep = new ServiceLoop(sweepBlobs, HOUR_MS, "the sweep of blobs failed");

  async function sweepBlobs({ logger }: ServiceBroker): Promise<boolean> {
    unneeded.begin();
    const swept = await blobs.sweep(store.now() - KEPT_MS, unneeded.stay);
    if (swept) logger.info({ swept }, "blobs that nobody needs were deleted");
    return false;
  }

  return {
    name: "blobs",
    mixins: [sweep.mixin],
    actions: {
      /** Deletes at once those that no row names any more. */
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
