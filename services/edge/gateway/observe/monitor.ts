import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Config } from "../../../../config.ts";

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;
const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/** Whether a bearer token is one of the expected ones, in constant time for each. */
export function bearerIs(req: IncomingMessage, tokens: readonly string[]): boolean {
  const given = Buffer.from(req.headers.authorization ?? "");
  return tokens.some((token) => {
    const wanted = Buffer.from(`Bearer ${token}`);
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  });
}

/**
 * Whether a request may read the metrics: with `METRICS_TOKEN` any bearer of it, without it this machine only. That
 * excludes a local proxy, whose requests come from elsewhere, and DNS rebinding, where the browser sends the attacker's
 * name as Host.
 */
export function mayMonitor(
  req: IncomingMessage,
  { METRICS_TOKEN, METRICS_TOKEN_FALLBACKS }: Pick<Config, "METRICS_TOKEN" | "METRICS_TOKEN_FALLBACKS">,
): boolean {
  if (METRICS_TOKEN) return bearerIs(req, [METRICS_TOKEN, ...METRICS_TOKEN_FALLBACKS]);
  const forwarded = req.headers["x-forwarded-for"] ?? req.headers.forwarded;
  if (forwarded !== undefined || !LOOPBACK_HOST.test(req.headers.host ?? "")) return false;
  return LOOPBACK.test(req.socket.remoteAddress ?? "");
}
