import type { ServerResponse } from "node:http";
import type { Context } from "moleculer";
import type { Operation } from "../../../lib/contract/contract.ts";
import type { GatewayRequest } from "./http-exchange.ts";
import { consoleFiles } from "./pages/console.ts";
import { docsFiles } from "./pages/docs.ts";
import { VERSION_PREFIX } from "./paths.ts";

/** An alias of moleculer-web, bound to its operation. */
export interface RoutedAlias {
  method: string;
  fullPath: string;
  op: Operation;
}

/** Settings common to all operations. The gateway reads bodies itself, once the caller is known. */
const COMMON = {
  authentication: true,
  authorization: true,
  bodyParsers: false,
  mappingPolicy: "restrict",
  mergeParams: false,
  logging: false,
};

type Handler = (req: GatewayRequest, res: ServerResponse, next: (err?: unknown) => void) => void;

/** What a route runs of the gateway. moleculer-web calls these on the service. */
export interface RouteHooks {
  onBeforeCall: (ctx: Context, route: unknown, req: GatewayRequest, res: unknown, alias: RoutedAlias) => void;
  /** The alias of every operation: it reads the body, calls the action by name and sends the answer. */
  answer: Handler;
}

/** Builds the routes of moleculer-web: an alias for each operation, and the files of the pages. */
export function routesOf(operations: readonly Operation[], { onBeforeCall, answer }: RouteHooks) {
  const aliasesOf = (isRoot: boolean) =>
    Object.fromEntries(
      operations.filter(({ root = false }) => root === isRoot).map((op) => [aliasOf(op), answer]),
    );
  const files = { bodyParsers: false, mappingPolicy: "restrict", logging: false };
  return [
    { ...COMMON, name: "api", path: VERSION_PREFIX, aliases: aliasesOf(false), onBeforeCall },
    { ...files, name: "docs", path: "/docs", use: [nameRequest, docsFiles] },
    // Before the operations at the root: the first route with a matching prefix gets unmatched paths.
    { ...files, name: "console", path: "/", use: [nameRequest, consoleFiles(operations)] },
    { ...COMMON, name: "root", path: "/", aliases: aliasesOf(true), onBeforeCall },
  ];
}

/** Responses with files carry the request's id too. */
function nameRequest({ $exchange }: GatewayRequest, res: ServerResponse, next: () => void) {
  res.setHeader("X-Request-Id", $exchange.request_id);
  next();
}

/** Converts `POST /agents/{id}/interests:test` to `POST /agents/:id/interests\:test`. */
function aliasOf({ method, url }: Operation): string {
  return `${method} ${url.replaceAll(":", "\\:").replace(/\{(\w+)\}/g, ":$1")}`;
}

/** Binds each alias to its operation. */
export function bindAliases(
  aliases: RoutedAlias[],
  operations: readonly Operation[],
): Map<Operation, RoutedAlias> {
  const byPath = new Map(aliases.map((alias) => [`${alias.method} ${alias.fullPath}`, alias]));
  return new Map(
    operations.map((op) => {
      const [method, path] = aliasOf(op).split(" ") as [string, string];
      const alias = byPath.get(`${method} ${op.root ? path : VERSION_PREFIX + path}`) as RoutedAlias;
      const name = `${op.method} ${op.url}`;
      // moleculer-web formats the alias of each request, in colours, for a log line that may be disabled.
      return [op, Object.assign(alias, { op, toString: () => name })];
    }),
  );
}
