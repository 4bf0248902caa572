import { readdirSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { HUB_256, type Scheme, SERVICE, STANDARD_WEBHOOKS, SVIX } from "./webhook-schemes.ts";
import type { Sender } from "./webhook-sender.ts";

const FOLDER = join(import.meta.dirname, "webhook-senders");

const named: [string, Sender][] = [];
// One at a time: Jest links none while another awaits.
for (const file of readdirSync(FOLDER).sort()) {
  if (!/(?<!\.d)\.[jt]s$/.test(file)) continue;
  const { sender } = (await import(`./webhook-senders/${file}`)) as { sender: Sender };
  named.push([basename(file, extname(file)).replaceAll("-", "_"), sender]);
}

/** Known senders by the names of their files in `webhook-senders/`. */
export const SENDERS: ReadonlyMap<string, Sender> = new Map(named);

/** The schemes that a header identifies. The first whose header a request has counts: senders repeat older ones. */
export const SCHEMES: readonly Scheme[] = [
  ...new Set([
    ...[SERVICE, STANDARD_WEBHOOKS, SVIX, HUB_256],
    ...[...SENDERS.values()].flatMap(({ schemes }) => schemes),
  ]),
].filter(({ header }) => header !== null);
