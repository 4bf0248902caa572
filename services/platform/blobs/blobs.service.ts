import type { ServiceBroker } from "moleculer";
import { HOUR_MS } from "../../../lib/time.ts";
import { inTurns } from "../../../mixins/due.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import type { Blobs } from "../../../storage/blobs/blobs.ts";
import type { ServiceFactory } from "../../runtime.ts";

/**
 * Deletes unused blobs that a crash or a concurrent write has left. All others go with their last reference: see
 * `Model.blobs` and `writingBlobs`.
 */
export const blobsService: ServiceFactory = ({ blobs }) => {
  const sweep = new SharedLoop("sweep", (broker) => sweepBlobs(blobs, broker), HOUR_MS);
  return { name: "blobs", mixins: [sweep.mixin] };
};

export async function sweepBlobs(
  blobs: Pick<Blobs, "tenants" | "releaseAll">,
  broker: Pick<ServiceBroker, "call" | "logger">,
): Promise<false> {
  let swept = 0;
  const tenants = (await blobs.tenants()).map((tenant_id) => ({ tenant_id }));
  await inTurns("blobs", tenants, async ({ tenant_id }) => {
    if (!(await isImported(broker, tenant_id))) swept += await blobs.releaseAll(tenant_id);
  });
  if (swept) broker.logger.info({ swept }, "unreferenced blobs were deleted");
  return false;
}

/** Whether the tenant's rows follow its blobs, however long that takes. */
async function isImported(broker: Pick<ServiceBroker, "call">, tenant_id: string): Promise<boolean> {
  const params = { tenant_ids: [tenant_id] };
  const [tenant] = await broker.call<{ status: string }[], object>("tenants.get_many", params);
  return tenant?.status === "importing";
}
