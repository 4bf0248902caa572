import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Config } from "../../../../config.ts";
import { Fault, unauthenticated } from "../../../../lib/contract/faults.ts";
import { newId } from "../../../../lib/ids.ts";
import { exposition } from "../../../../observability/metrics.ts";
import { EXPOSITION_TYPE, getMetrics } from "../../../platform/system/system.contract.ts";
import type { Runtime } from "../../../runtime.ts";
import { errorAnswer, JSON_TYPE, send, toFault } from "../answer/respond.ts";
import { CredentialGuard } from "../guards.ts";
import type { Answer } from "../http-exchange.ts";
import { clientAddress, unknownPath } from "../router.ts";
import { HttpServer } from "../server.ts";

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;
const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

const digest = (text: string) => createHash("sha256").update(text).digest();

/**
 * Compares a bearer token with a setting and its fallbacks, in constant time for each.
 * @throws Fault authentication_failed, not_found without the setting
 */
export function requireBearer(
  req: IncomingMessage,
  config: Config,
  name: "OPERATOR_TOKEN" | "METRICS_TOKEN",
): void {
  const token = config[name];
  if (!token) throw unknownPath(req);
  const bearer = digest(req.headers.authorization ?? "");
  const isIt = (each: string) => timingSafeEqual(bearer, digest(`Bearer ${each}`));
  if ([token, ...config[`${name}_FALLBACKS`]].some(isIt)) return;
  throw unauthenticated(`This operation needs ${name}: send it as Bearer token.`);
}

/**
 * Admits to the metrics: with `METRICS_TOKEN` any bearer of it, without it this machine only. That excludes a local
 * proxy, whose requests come from elsewhere, and DNS rebinding, where the browser sends the attacker's name as Host.
 * @throws Fault authentication_failed, not_found
 */
export function requireMonitor(req: IncomingMessage, config: Config): void {
  const forwarded = req.headers["x-forwarded-for"] ?? req.headers.forwarded;
  const isHere = forwarded === undefined && LOOPBACK_HOST.test(req.headers.host ?? "");
  if (config.METRICS_TOKEN || !isHere || !LOOPBACK.test(req.socket.remoteAddress ?? ""))
    requireBearer(req, config, "METRICS_TOKEN");
}

type Watched = Pick<Runtime, "config" | "health" | "secrets" | "windows">;

/**
 * HTTP server of a node without a gateway: answers `/healthz`, `/readyz` and `/metrics` like a gateway, so that every
 * node is monitored in the same way.
 */
export function monitorServer({ config, health, secrets, windows }: Watched): HttpServer {
  const guard = new CredentialGuard(config, secrets, windows);
  const addressOf = clientAddress(config.TRUST_PROXY);
  const json = (status: number, value: unknown): Answer => ({
    status,
    type: JSON_TYPE,
    body: JSON.stringify(value),
  });

  async function answer(req: IncomingMessage): Promise<Answer> {
    const path = req.url?.split("?")[0];
    if (path === "/healthz") return json(200, { status: "ok" });
    if (path === "/metrics") {
      requireMonitor(req, config);
      return { status: 200, type: EXPOSITION_TYPE, body: await exposition() };
    }
    if (path !== "/readyz")
      throw new Fault("not_found", "This port serves only /healthz, /readyz and /metrics.");
    const report = await health.report();
    return json(report.status === "ready" ? 200 : 503, report);
  }

  return new HttpServer((req: IncomingMessage, res: ServerResponse) => {
    const request_id = newId("req");
    const exchange = { op: getMetrics, ctx: { meta: { ip: addressOf(req) } }, req, caller: null };
    req.resume();
    answer(req)
      .catch(async (err) => errorAnswer(await guard.judge(exchange, toFault(err)), request_id))
      .then((answer) => send(res, answer, { request_id, allowance: null, last: false }));
  });
}
