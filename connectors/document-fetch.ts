import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { readText } from "../lib/http/content-encoding.ts";
import { redirectNote } from "../lib/http/redirect.ts";

import type { Share } from "../lib/queue/fair-queue.ts";
import { hostOf, refusePrivate } from "./address-guard.ts";
import { type HostResolver, makeLookup } from "./host-resolver.ts";

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 16_384;

interface FetchOptions {
  resolver: HostResolver;
  /** Whose share of host look-ups it counts against. */
  share: Share;
  allowPrivate: boolean;
}

/**
 * Reads a small JSON document by https from a public address, without redirects. Returns the value, and the seconds for which
 * it may be kept; null if the server does not say. @throws Error that says why it was not read
 */
export async function fetchDocument(
  url: string,
  { resolver, share, allowPrivate }: FetchOptions,
): Promise<{ value: unknown; max_age_seconds: number | null }> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const addresses = await resolver.resolve(hostOf(url), share);
  if (!allowPrivate) refusePrivate(hostOf(url), addresses);
  const headers = { Accept: "application/json", "User-Agent": "Sensorium" };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { agent: false, headers, signal, lookup: makeLookup(addresses) }, resolve)
      .once("error", reject)
      .end();
  });
  try {
    if (answer.statusCode !== 200) {
      const note = redirectNote(answer.headers.location, url);
      throw new Error(`it was answered with status ${answer.statusCode}${note}`);
    }
    if (!/^application\/([\w.-]+\+)?json\b/i.test(answer.headers["content-type"] ?? ""))
      throw new Error("it is not JSON");
    return { value: JSON.parse(await readText(answer, MAX_BYTES)), max_age_seconds: maxAge(answer) };
  } finally {
    answer.destroy();
  }
}

function maxAge({ headers }: IncomingMessage): number | null {
  const control = headers["cache-control"] ?? "";
  if (/\bno-(store|cache)\b/i.test(control)) return 0;
  const [, seconds] = /\bmax-age=(\d+)/i.exec(control) ?? [];
  return seconds === undefined ? null : Number(seconds);
}
