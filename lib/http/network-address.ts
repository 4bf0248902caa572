import { isIPv4, isIPv6 } from "node:net";

const GROUPS = 8;
/** The smallest network that a provider assigns to one customer, a /64 (RFC 6177). */
const NETWORK_GROUPS = 4;

/** Returns the key of an address in limits: an IPv4 address itself, the /64 of an IPv6 address. */
export function networkOf(address: string): string {
  const [plain = ""] = address.split("%");
  if (isIPv4(plain)) return plain;
  if (!isIPv6(plain)) return "unknown";
  const groups = parseGroups(plain);
  const isMapped = groups.slice(0, 5).every((group) => group === "0") && groups[5] === "ffff";
  return isMapped ? ipv4Of(groups) : `${groups.slice(0, NETWORK_GROUPS).join(":")}::/64`;
}

/** Returns the eight groups, normalised by the URL parser. */
function parseGroups(address: string): string[] {
  const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const [first, last] = [head, tail ?? ""].map((part) => part.split(":").filter(Boolean)) as [
    string[],
    string[],
  ];
  return [...first, ...Array<string>(GROUPS - first.length - last.length).fill("0"), ...last];
}

function ipv4Of(groups: readonly string[]): string {
  const bytes = groups.slice(6).flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
  return bytes.join(".");
}
