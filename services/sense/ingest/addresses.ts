import type { Config } from "../../../config.ts";
import type { DeliveryHeaders } from "../../../connectors/webhook-schemes.ts";

interface Arrived {
  headers: DeliveryHeaders;
  /** Path and query as received; absent from gateways of earlier versions. */
  target?: string;
}

/** Returns the addresses that the sender may have used: the server's public one, else those that the request names. */
export function listAddresses(
  { headers, target }: Arrived,
  { PUBLIC_URL }: Pick<Config, "PUBLIC_URL">,
): string[] {
  if (target === undefined) return [];
  if (PUBLIC_URL) return [PUBLIC_URL.replace(/\/$/, "") + target];
  // Any sender may name a host, but it is signed with the path: a signature for another host's path opens nothing here.
  const host = headers["x-forwarded-host"]?.split(",")[0]?.trim() || headers.host;
  return host ? [`https://${host}${target}`, `http://${host}${target}`] : [];
}
