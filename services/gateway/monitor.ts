import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;

/** Whether a bearer token is the wanted one, told in the same time whatever was given. */
export function bearerIs(req: IncomingMessage, token: string): boolean {
  const given = Buffer.from(req.headers.authorization ?? "");
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/**
 * Whether a request may read the measures: with `METRICS_TOKEN` whoever brings it, without it this machine only.
 * A proxy on this machine is not: what it passes on came from elsewhere.
 */
export function mayMonitor(req: IncomingMessage, token: string | null): boolean {
  if (token) return bearerIs(req, token);
  const forwarded = req.headers["x-forwarded-for"] ?? req.headers.forwarded;
  return forwarded === undefined && LOOPBACK.test(req.socket.remoteAddress ?? "");
}
