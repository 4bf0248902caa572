import type { ServerResponse } from "node:http";
import type { GatewayRequest } from "../exchange.ts";
import type { RoutedAlias } from "../routes.ts";

/** A route as moleculer-web makes it of its settings. */
export interface Route {
  middlewares: ((req: GatewayRequest, res: ServerResponse, next: (err?: unknown) => void) => void)[];
}

/** What `resolveAlias` finds. */
export interface Found {
  alias: RoutedAlias;
  params: Record<string, string>;
}

/**
 * Replaces moleculer-web's `routeHandler`: runs the route's middlewares, then the alias. The original also listens for
 * three events of each response, to settle a promise that nothing waits for.
 *
 * @returns null if neither a middleware nor an alias answers
 */
export async function handleRoute(
  route: Route,
  req: GatewayRequest,
  res: ServerResponse,
  found: Found | undefined,
  handleAlias: (alias: RoutedAlias) => Promise<unknown>,
): Promise<unknown> {
  for (const middleware of route.middlewares) {
    await new Promise<void>((resolve, reject) =>
      middleware(req, res, (err) => (err ? reject(err) : resolve())),
    );
  }
  if (!found) return null;
  const { alias, params } = found;
  Object.assign(req, { $route: route, $alias: alias, $params: { params } });
  return handleAlias(alias);
}
