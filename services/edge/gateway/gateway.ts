import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context, ServiceBroker, ServiceSchema, ServiceSettingSchema } from "moleculer";
import ApiGateway from "moleculer-web";
import type { Operation } from "../../../lib/contract/contract.ts";
import { exposition } from "../../../observability/metrics.ts";
import { idempotent, published, type Runtime } from "../../runtime.ts";
import type { AuthChange } from "./access/authenticate.ts";
import type { Answer } from "./answer/respond.ts";
import { Edge, type EdgeParts } from "./edge.ts";
import type { Exchange, GatewayRequest } from "./exchange.ts";
import { authenticate } from "./hooks/authenticate.ts";
import { authorize } from "./hooks/authorize.ts";
import { callAction } from "./hooks/call-action.ts";
import { type Found, handleRoute, type Route } from "./hooks/handle-route.ts";
import { onError } from "./hooks/on-error.ts";
import { rootCallOptions } from "./hooks/root-call.ts";
import { sendAnswer } from "./hooks/send-response.ts";
import { openApiDocument } from "./openapi/openapi.ts";
import { docsPage } from "./pages/docs.ts";
import { unknownPath, VERSION_PREFIX } from "./paths.ts";
import { Router } from "./router.ts";
import { bindAliases, type RoutedAlias, routesOf } from "./routes.ts";
import { HttpServer } from "./server.ts";

const exchangeOf = (req: GatewayRequest) => req.$exchange as Exchange;

/**
 * The gateway: moleculer-web with routes from the contracts and hooks in hooks/. It replaces `resolveAlias` by a tree
 * look-up, `callAction` to read the body late and to call by name, `routeHandler` and `sendResponse` for their cost, and
 * `errorHandler`, which would log request data (docs/decisions/0010-edge.md).
 */
export function gateway(
  runtime: Runtime,
  operations: readonly Operation[],
  partsOf: (broker: ServiceBroker) => EdgeParts,
): ServiceSchema {
  let edge: Edge;
  let server: HttpServer;
  let router: Router;
  let aliases: Map<Operation, RoutedAlias>;
  let document: Buffer | undefined;
  const shared = () => edge;
  return {
    name: "gateway",
    mixins: [ApiGateway as unknown as ServiceSchema],
    settings: {
      // We create the server (server.ts): it reports in one line why it cannot listen, and answers malformed HTTP.
      server: false,
      routes: routesOf(operations, shared),
      rootCallOptions: (options: object, req: GatewayRequest, res: ServerResponse) =>
        rootCallOptions(edge, options, req, res),
      onError: (req: GatewayRequest, _res: ServerResponse, err: unknown) => onError(edge, req, err),
      logRouteRegistration: false,
    } as unknown as ServiceSettingSchema,
    actions: {
      listAliases: false,
      addRoute: false,
      removeRoute: false,
      healthz: published(() => ({ status: "ok" })),
      readyz: published(async (ctx) => {
        const report = await runtime.health.report();
        if (report.status !== "ready") ctx.meta.$statusCode = 503;
        return report;
      }),
      metrics: published(exposition),
      docs: published((ctx) => docsPage(ctx.meta)),
      openapi: published(() => {
        document ??= Buffer.from(JSON.stringify(openApiDocument(operations)));
        return document;
      }),
      /** The address of this node. With several gateways, PUBLIC_URL is the one for callers. */
      address: idempotent(() => ({ origin: server.origin })),
    },
    methods: {
      authenticate: (_ctx: Context, _route: unknown, req: GatewayRequest) =>
        authenticate(edge, exchangeOf(req)),
      authorize: (_ctx: Context, _route: unknown, req: GatewayRequest) => authorize(edge, exchangeOf(req)),
      /** Splits off the query without parsing it: before-call.ts does that. */
      parseQueryString: ({ url = "" }: IncomingMessage) => {
        const at = url.indexOf("?");
        return { query: {}, url: at < 0 ? url : url.slice(0, at) };
      },
      resolveAlias(url: string, method = "GET") {
        const found = router.resolve(url, method);
        return found && { alias: aliases.get(found.op), params: found.path };
      },
      routeHandler(_ctx: Context, route: Route, req: GatewayRequest, res: ServerResponse, found?: Found) {
        return handleRoute(route, req, res, found, (alias) => this.aliasHandler(req, res, alias));
      },
      async callAction(_route: unknown, _action: string, req: GatewayRequest, res: ServerResponse) {
        this.sendResponse(req, res, await callAction(edge, exchangeOf(req)));
        return true;
      },
      sendResponse: (req: GatewayRequest, _res: ServerResponse, answer: Answer) =>
        sendAnswer(edge, req.$exchange, answer),
      errorHandler(req: GatewayRequest, res: ServerResponse, err: unknown) {
        this.sendError(req, res, err);
      },
      send404(req: GatewayRequest, res: ServerResponse) {
        this.sendError(req, res, unknownPath(req));
      },
    },
    events: {
      "auth.changed": {
        context: true,
        handler: (ctx: { params: AuthChange }) => edge.parts.callers.forget(ctx.params),
      },
      /** The node is about to stop: answer requests in progress before its services stop. */
      async "node.stopping"() {
        edge.drain();
        await server.close();
      },
    },
    created() {
      edge = new Edge(runtime, this.broker, partsOf(this.broker));
      router = new Router(operations, VERSION_PREFIX);
      aliases = bindAliases(this.aliases, operations);
      server = new HttpServer((req, res) => this.httpHandler(req, res));
    },
    async started() {
      edge.start();
      await server.listen(runtime.config.PORT, runtime.config.HOST);
    },
    async stopped() {
      edge.drain();
      await server.close();
      await edge.stop();
    },
  };
}
