import type { Config } from "../config.ts";
import { AddressRefused, assertPublicUrl } from "../connectors/address-guard.ts";
import { HostResolver } from "../connectors/host-resolver.ts";
import { invalidValue } from "../lib/contract/faults.ts";
import type { Share } from "../lib/queue/fair-queue.ts";
import { resourceQueue } from "./platform/admission/resources.ts";

/** Units of one tenant among these calls: divided by the most calls of a kind at once, they are the cost of one. */
export const PER_TENANT = 256;

/**
 * Calls to other systems. Attempts of pushes last as long as their receivers like, and look up hosts meanwhile: what is
 * short, such as that, is `reserved`. A caller of an attempt is a host of its tenant.
 */
export const outgoing = resourceQueue("outgoing", {
  ...{ capacity: 2 * PER_TENANT, reserve: 4 * PER_TENANT, perTenant: PER_TENANT, perCaller: PER_TENANT / 2 },
  ...{ maxWaiting: 2000, maxWaitingPerCaller: 64, patienceMs: 10_000 },
});

/**
 * Creates a resolver whose look-ups are shared fairly between tenants. @param servers name servers; empty for those of
 * the system
 */
export function newHostResolver(servers: readonly string[]): HostResolver {
  return new HostResolver({ servers, queue: outgoing });
}

/** Requires a field's URL to be one that callers may have things sent to. @throws Fault validation_error */
export async function requirePublicUrl(
  { config, resolver }: { config: Config; resolver: HostResolver },
  share: Share,
  field: string,
  url: string,
): Promise<void> {
  const resolve = (host: string) => resolver.resolve(host, share);
  await assertPublicUrl(url, { allowPrivate: config.PUSH_ALLOW_PRIVATE, resolve }).catch((err: Error) => {
    const unless = err instanceof AddressRefused ? " unless the operator sets PUSH_ALLOW_PRIVATE" : "";
    throw invalidValue(field, `${field}: ${err.message}${unless}.`);
  });
}
