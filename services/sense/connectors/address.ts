import { assertPublicHost, hostOf, type Resolve } from "../../../connectors/address-guard.ts";
import { invalidValue } from "../../../lib/contract/faults.ts";
import { credentialsFault } from "../../../lib/http/address-credentials.ts";
import type { ConnectorKind } from "./connectors.contract.ts";

/** Returns a broker's address without its secrets: credentials and query. */
export function shownUrl(url: string): string {
  const { protocol, username, password, host, pathname } = new URL(url);
  return `${protocol}//${username || password ? "***@" : ""}${host}${pathname}`;
}

/**
 * Checks that a broker's address is allowed and resolves.
 *
 * @throws Fault validation_error, field `url`, which never repeats it.
 */
export async function checkUrl(url: string, allowPrivate: boolean, resolve: Resolve): Promise<void> {
  const fault = credentialsFault(url);
  if (fault) throw invalidValue("url", `url: ${fault}.`);
  if (!URL.canParse(url) || hostOf(url) === "") {
    throw invalidValue("url", "url: expected amqp://HOST or amqps://HOST. Encode special characters as %XX.");
  }
  if (allowPrivate) return;
  await assertPublicHost(hostOf(url), resolve).catch((err: Error) => {
    throw invalidValue("url", `url: ${err.message} unless the operator sets CONNECTOR_ALLOW_PRIVATE.`);
  });
}

/**
 * Returns the queue or the address, depending on the kind. @throws Fault validation_error for the other one, or for
 * none
 */
export function chooseSource(kind: ConnectorKind, given: { queue?: string; address?: string }): string {
  const [wanted, other] =
    kind === "amqp091" ? (["queue", "address"] as const) : (["address", "queue"] as const);
  const from = given[wanted];
  if (from === undefined) throw invalidValue(wanted, `${wanted} is required for the kind ${kind}.`);
  if (given[other] !== undefined)
    throw invalidValue(other, `${other}: not allowed for the kind ${kind}. Use ${wanted} instead.`);
  return from;
}
