import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;
const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/** Whether a bearer token is the wanted one, told in the same time whatever was given. */
export function bearerIs(req: IncomingMessage, token: string): boolean {
  const given = Buffer.from(req.headers.authorization ?? "");
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/**
 * Whether a request may read the measures: with `METRICS_TOKEN` whoever brings it, without it this machine only.
 * A proxy on this machine is not: what it passes on came from elsewhere. Nor is a page whose name was made to resolve
 * to this machine: its browser sends that name as Host.
 */
export function mayMonitor(req: IncomingMessage, token: string | null): boolean {
  if (token) return bearerIs(req, token);
  const forwarded = req.headers["x-forwarded-for"] ?? req.headers.forwarded;
  if (forwarded !== undefined || !LOOPBACK_HOST.test(req.headers.host ?? "")) return false;
  return LOOPBACK.test(req.socket.remoteAddress ?? "");
}
