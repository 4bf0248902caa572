import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;
const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/** Whether a bearer token equals the expected one, in constant time. */
export function bearerIs(req: IncomingMessage, token: string): boolean {
  const given = Buffer.from(req.headers.authorization ?? "");
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/**
 * Whether a request may read the metrics: with `METRICS_TOKEN` any bearer of it, without it this machine only. That
 * excludes a local proxy, whose requests come from elsewhere, and DNS rebinding, where the browser sends the attacker's
 * name as Host.
 */
export function mayMonitor(req: IncomingMessage, token: string | null): boolean {
  if (token) return bearerIs(req, token);
  const forwarded = req.headers["x-forwarded-for"] ?? req.headers.forwarded;
  if (forwarded !== undefined || !LOOPBACK_HOST.test(req.headers.host ?? "")) return false;
  return LOOPBACK.test(req.socket.remoteAddress ?? "");
}
