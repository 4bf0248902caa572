import type { IncomingMessage, ServerResponse } from "node:http";
import { Fault } from "../../../../lib/contract/faults.ts";
import { newId } from "../../../../lib/ids.ts";
import { exposition } from "../../../../observability/metrics.ts";
import { EXPOSITION_TYPE } from "../../../platform/system/system.contract.ts";
import type { Runtime } from "../../../runtime.ts";
import { errorAnswer, JSON_TYPE, send } from "../answer/respond.ts";
import type { Answer } from "../http-exchange.ts";
import { HttpServer } from "../server.ts";
import { mayMonitor } from "./monitor.ts";

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
