import type { ServerResponse } from "node:http";
import type { Context } from "moleculer";
import type { GatewayRequest } from "./http-exchange.ts";
import { consoleFiles } from "./pages/console.ts";
import { docsFiles } from "./pages/docs.ts";

/** What the route of operations runs of the gateway. moleculer-web calls these on the service. */
export interface RouteHooks {
  onBeforeCall: (ctx: Context, route: unknown, req: GatewayRequest) => void;
  /** Its alias: reads the body, calls the action by name and sends the answer. */
  answer: (req: GatewayRequest, res: ServerResponse, next: (err?: unknown) => void) => void;
}

/** Builds the routes of moleculer-web: one with an alias for all operations, and the files of the pages. */
export function routesOf({ onBeforeCall, answer }: RouteHooks) {
  // The gateway reads bodies itself, once the caller is known.
  const common = { bodyParsers: false, mappingPolicy: "restrict", mergeParams: false, logging: false };
  const checked = { authentication: true, authorization: true, onBeforeCall };
  return [
    { ...common, name: "docs", path: "/docs", use: [nameRequest, docsFiles] },
    // Before the operations: the first route with a matching prefix gets unmatched paths.
    { ...common, name: "console", path: "/", use: [nameRequest, consoleFiles()] },
    { ...common, ...checked, name: "operations", path: "/", aliases: { "* /": answer } },
  ];
}

/** Responses with files carry the request's id too. */
function nameRequest({ $exchange }: GatewayRequest, res: ServerResponse, next: () => void) {
  res.setHeader("X-Request-Id", $exchange.request_id);
  next();
}
