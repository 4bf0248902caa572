import type { ServiceBroker } from "moleculer";
import { HOUR_MS } from "../../../lib/time.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import type { InUse } from "../../../storage/blobs/blobs.ts";
import type { ServiceFactory } from "../../runtime.ts";

/** New blobs are kept this long: their row may not be written yet. */
const KEPT_MS = HOUR_MS;

/**
 * Deletes unused blobs that a crash or a concurrent write has left. All others go with their last reference: see
 * `Model.blobs` and `writingBlobs`.
 */
export const blobsService: ServiceFactory = ({ store, blobs }) => {
  const unused = new UnusedSinceLastSweep((tenant_id, hashes) => blobs.inUse(tenant_id, hashes));
  const sweep = new SharedLoop("sweep", sweepBlobs, HOUR_MS);

  async function sweepBlobs(broker: ServiceBroker): Promise<boolean> {
    unused.begin();
    const swept = await blobs.sweep(store.now() - KEPT_MS, keepImporting(broker, unused.stay));
    if (swept) broker.logger.info({ swept }, "unreferenced blobs were deleted");
    return false;
  }

  return { name: "blobs", mixins: [sweep.mixin] };
};

/** Keeps everything of tenants that are being imported: their rows follow, however long that takes. */
export function keepImporting(broker: Pick<ServiceBroker, "call">, stay: InUse): InUse {
  return async (tenant_id, hashes) => {
    // Asked first: once the import is complete, all rows are there.
    const asked = { tenant_ids: [tenant_id] };
    const [tenant] = await broker.call<{ status: string }[], object>("tenants.get_many", asked);
    return tenant?.status === "importing" ? hashes : stay(tenant_id, hashes);
  };
}

/**
 * Limits a sweep to blobs that were unused at the previous sweep too, so that a blob outlives its row for a while: a
 * backup that contains the row finds the blob.
 */
export class UnusedSinceLastSweep {
  readonly #inUse: InUse;
  #before = new Set<string>();
  #now = new Set<string>();

  constructor(inUse: InUse) {
    this.#inUse = inUse;
  }

  /** Begins a sweep. */
  begin(): void {
    this.#before = this.#now;
    this.#now = new Set();
  }

  /** Returns the hashes to keep. */
  readonly stay: InUse = async (tenant_id, hashes) => {
    const used = new Set(await this.#inUse(tenant_id, hashes));
    return hashes.filter((hash) => {
      const key = `${tenant_id} ${hash}`;
      if (!used.has(hash)) this.#now.add(key);
      return used.has(hash) || !this.#before.has(key);
    });
  };
}
