import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Config } from "../../../../config.ts";
import { Fault } from "../../../../lib/contract/faults.ts";
import { newId } from "../../../../lib/ids.ts";
import { exposition } from "../../../../observability/metrics.ts";
import { EXPOSITION_TYPE } from "../../../platform/system/system.contract.ts";
import type { Runtime } from "../../../runtime.ts";
import { errorAnswer, JSON_TYPE, send } from "../answer/respond.ts";
import type { Answer } from "../http-exchange.ts";
import { HttpServer } from "../server.ts";

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

type Watched = Pick<Runtime, "config" | "health">;

/**
 * HTTP server of a node without a gateway: answers `/healthz`, `/readyz` and `/metrics` like a gateway, so that every
 * node is monitored in the same way.
 */
export function monitorServer({ config, health }: Watched): HttpServer {
  const json = (status: number, value: unknown): Answer => ({
    status,
    type: JSON_TYPE,
    body: JSON.stringify(value),
  });

  async function answer(req: IncomingMessage): Promise<Answer> {
    const path = req.url?.split("?")[0];
    if (path === "/healthz") return json(200, { status: "ok" });
    if (path === "/metrics" && mayMonitor(req, config)) {
      return { status: 200, type: EXPOSITION_TYPE, body: await exposition() };
    }
    if (path !== "/readyz")
      throw new Fault("not_found", "This port serves only /healthz, /readyz and /metrics.");
    const report = await health.report();
    return json(report.status === "ready" ? 200 : 503, report);
  }

  return new HttpServer((req: IncomingMessage, res: ServerResponse) => {
    const request_id = newId("req");
    req.resume();
    answer(req)
      .catch((err) => errorAnswer(err, request_id))
      .then((given) => send(res, given, { request_id, allowance: null, last: false }));
  });
}
