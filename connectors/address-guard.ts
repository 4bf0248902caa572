import { BlockList, isIP } from "node:net";
import { credentialsFault } from "../lib/http/address-credentials.ts";

/** Ranges that are not the public internet (IANA special-purpose address registries), by address family. */
const SPECIAL: Record<"ipv4" | "ipv6", string[]> = {
  ipv4: [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
  ],
  // Refuse ranges that embed an IPv4 address (mapped, translated, 6to4, Teredo) completely: they contain no public
  // endpoint, and unpacking them invites errors.
  ipv6: [
    "::/96",
    "::ffff:0:0/96",
    "::ffff:0:0:0/96",
    "64:ff9b::/96",
    "64:ff9b:1::/48",
    "100::/64",
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
    "5f00::/16",
    "fc00::/7",
    "fe80::/10",
    "fec0::/10",
    "ff00::/8",
  ],
};

// One list per family: in a shared list, Node treats ::ffff:0:0/96 as every IPv4 address.
const blocked = { ipv4: blockList("ipv4"), ipv6: blockList("ipv6") };

function blockList(family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const range of SPECIAL[family]) {
    const [address, bits] = range.split("/") as [string, string];
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}

/** Whether an IP address literal is on the public internet. */
export function isPublicAddress(address: string): boolean {
  const plain = address.split("%")[0] as string;
  const version = isIP(plain);
  if (version === 0) return false;
  const family = version === 4 ? "ipv4" : "ipv6";
  return !blocked[family].check(plain, family);
}

/** Thrown for an address that tenants may not reach: loopback, link-local, private or otherwise not public. */
export class AddressRefused extends Error {
  readonly code = "ADDRESS_REFUSED";

  constructor(host: string, address: string) {
    const shown = host === address ? address : `${host} (${address})`;
    super(`${shown} is not a public address; loopback, link-local and private ones are refused`);
  }
}

/** Returns all addresses of a host (connectors/host-resolver.ts). */
export type Resolve = (host: string) => Promise<{ address: string }[]>;

interface GuardOptions {
  /** Allow all addresses (`PUSH_ALLOW_PRIVATE`). */
  allowPrivate: boolean;
  resolve: Resolve;
}

/**
 * Checks that a URL is http(s) and currently resolves to public addresses only. An unresolvable name passes: it may
 * resolve later, and each connection is checked again (api.md Delivery, `push`).
 *
 * @throws Error with the given value and what is allowed
 */
export async function assertPublicUrl(url: string, options: GuardOptions): Promise<void> {
  const fault = credentialsFault(url);
  if (fault) throw new Error(fault);
  if (!URL.canParse(url))
    throw new Error(
      `${url.includes("@") ? "it" : url} is not a URL: expected http[s]://HOST or http[s]://HOST:PORT`,
    );
  const { protocol, username, password } = new URL(url);
  if (protocol !== "http:" && protocol !== "https:") {
    throw new Error(`${protocol}// is not supported: expected http:// or https://`);
  }
  if (username || password) throw new Error("a URL with a user name or password is not allowed: remove them");
  if (!options.allowPrivate) await assertPublicHost(hostOf(url), options.resolve);
}

/** Returns a URL's host for a connection. The URL parser has already normalized decimal, octal and hex addresses. */
export function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, "");
}

/** Checks that a host resolves to public addresses only; an unresolvable one passes. */
export async function assertPublicHost(host: string, resolve: Resolve): Promise<void> {
  refusePrivate(host, isIP(host) ? [{ address: host }] : await resolve(host).catch(() => []));
}

/** @throws AddressRefused if one of a host's addresses is not public */
export function refusePrivate(host: string, addresses: readonly { address: string }[]): void {
  const refused = addresses.find(({ address }) => !isPublicAddress(address));
  if (refused !== undefined) throw new AddressRefused(host, refused.address);
}
