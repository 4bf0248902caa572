import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import type {
  ActionSchema,
  CallingOptions,
  Context,
  Service,
  ServiceSchema,
  ServiceSettingSchema,
} from "moleculer";
import ApiGateway from "moleculer-web";
import type { Config } from "../../../config.ts";
import type { OfTenant } from "../../../lib/access/caller.ts";
import type { Operation } from "../../../lib/contract/contract.ts";
import { requestShare, type Share } from "../../../lib/queue/fair-queue.ts";
import { asWork } from "../../../lib/queue/work.ts";
import type { LiveChange } from "../../../middlewares/live-changes.ts";
import { exposition } from "../../../observability/metrics.ts";
import { operations } from "../../contracts.ts";
import { INSTALLED, RUNNING } from "../../extensions.ts";
import type { AuthChange } from "../../identity/tenants/routing-change.ts";
import { idempotent, type Runtime, type ServiceFactory, unchecked } from "../../runtime.ts";
import { CallerCache } from "./access/access.ts";
import { sendInParts } from "./answer/in-parts.ts";
import { Output } from "./answer/output.ts";
import { edgeHeaders } from "./answer/respond.ts";
import { callAction, callNested, readParams } from "./call-action.ts";
import {
  authenticate,
  authorize,
  beforeCall,
  GatewayContext,
  type GatewayDeps,
  onError,
  rootCallOptions,
} from "./gateway-context.ts";
import type {
  GatewayRequest,
  Host,
  HttpExchange,
  RootCall,
  StreamHandler,
  StreamService,
} from "./http-exchange.ts";
import { consoleFiles } from "./pages/console.ts";
import { docsFiles, docsPage, LLMS_TEXT } from "./pages/docs.ts";
import { Router, VERSION_PREFIX } from "./router.ts";
import { HttpServer } from "./server.ts";
import { streamEvents } from "./streams/events.ts";
import { streamLive } from "./streams/live.ts";
import { streamDeliveries } from "./streams/sse.ts";

/** The service as its hooks see it: its own state, and the methods of moleculer-web that they use. */
interface Gateway extends Service {
  aliasHandler(req: GatewayRequest, res: ServerResponse, alias: RoutedAlias): Promise<true>;
  edge: GatewayContext;
  server: HttpServer;
  router: Router;
  aliasOf: Map<Operation, RoutedAlias>;
  sendError(req: GatewayRequest, res: ServerResponse, err: unknown): void;
}

const exchangeOf = (req: GatewayRequest) => req.$exchange as HttpExchange;

/** The gateway of a node, with all operations. */
export const gatewayService: ServiceFactory = (runtime) => {
  const served = operations.map((op) => withLimit(op, runtime.config));
  return gateway(runtime, served, (edge) => ({
    callers: new CallerCache(edge.broker, runtime.config.PUBLIC_URL),
    streams: {
      ...protocolsOf(edge, served),
      "deliveries.stream": streamDeliveries(edge.broker),
      "events.stream": streamEvents(edge),
      "live.watch": streamLive(edge.changes),
    },
  }));
};

/** JSON takes at most six characters for a byte of text. */
const ESCAPED = 6;
const REST = 1_048_576;

function withLimit(op: Operation, config: Config): Operation {
  if (!op.maxBodySetting) return op;
  const most = config[op.maxBodySetting];
  return { ...op, maxBody: most ? ESCAPED * most + REST : Number.POSITIVE_INFINITY };
}

/**
 * Passes requests of `gateway.<name>`, such as `gateway.mcp`, to the service of that protocol, which runs on every node with
 * a gateway (services/index.ts).
 */
function protocolsOf(edge: GatewayContext, served: readonly Operation[]): Record<string, StreamHandler> {
  const { changes, arrivals } = edge;
  const host: Host = { perform: (...nested) => callNested(edge, ...nested), changes, arrivals };
  const toProtocol =
    (name: string): StreamHandler =>
    (...request) =>
      (edge.broker.getLocalService(name) as unknown as StreamService).serve(host, ...request);
  const actions = served
    .filter((op) => op.stream && op.action.startsWith("gateway."))
    .map(({ action }) => action);
  return Object.fromEntries(actions.map((action) => [action, toProtocol(action.replace("gateway.", ""))]));
}

/**
 * The gateway: moleculer-web with routes from the contracts and hooks in gateway-context.ts. It replaces `resolveAlias` by a tree
 * look-up, `routeHandler` and `aliasHandler` for their cost, and `errorHandler`, which would log request data
 * (docs/decisions/0010-edge.md).
 */
export function gateway(
  runtime: Runtime,
  served: readonly Operation[],
  depsOf: (edge: GatewayContext) => GatewayDeps,
): ServiceSchema {
  return {
    name: "gateway",
    mixins: [ApiGateway as unknown as ServiceSchema],
    settings: {
      // We create the server (server.ts): it reports in one line why it cannot listen, and answers malformed HTTP.
      server: false,
      routes: routesOf(served, routeHooks),
      rootCallOptions(this: Gateway, options: CallingOptions, req: GatewayRequest, res: ServerResponse) {
        rootCallOptions(this.edge, options, req, res);
      },
      onError(this: Gateway, req: GatewayRequest, _res: ServerResponse, err: unknown) {
        void onError(this.edge, req.$exchange, err);
      },
      // `beforeCall` reads the query.
      qsOptions: { parameterLimit: 0 },
      logRouteRegistration: false,
    } as unknown as ServiceSettingSchema,
    actions: actionsOf(runtime),
    methods,
    events: {
      "auth.changed"(this: Gateway, { params }: Context<AuthChange>) {
        this.edge.deps.callers.forget(params);
      },
      "events.arrived"(this: Gateway, { params }: Context<OfTenant>) {
        this.edge.arrivals.emit(params.tenant_id);
      },
      "live.changed"(this: Gateway, { params }: Context<LiveChange>) {
        this.edge.changes.emit(params.tenant_id, params);
      },
      /** The node stops in a while: have callers connect elsewhere. */
      "node.draining"(this: Gateway) {
        this.edge.leave();
      },
      /** The node is about to stop: answer requests in progress before its services stop. */
      async "node.stopping"(this: Gateway) {
        this.edge.drain();
        await this.server.close();
      },
    },
    created() {
      this.edge = new GatewayContext(runtime, this.broker, depsOf);
      this.router = new Router(served, VERSION_PREFIX);
      this.aliasOf = bindAliases(this.aliases, served);
      this.server = new HttpServer((req, res) => this.httpHandler(req, res));
    },
    async started() {
      this.edge.start();
      await this.server.listen(runtime.config.PORT, runtime.config.HOST);
    },
    async stopped() {
      this.edge.drain();
      await this.server.close();
      this.edge.stop();
    },
  };
}

/** Written by `npm run openapi` for all extensions in this repository; for others it is built now. */
const DOCUMENT = new URL("../../../docs/openapi.json", import.meta.url);

async function openApi(): Promise<object> {
  if (RUNNING.every(({ isOurs }) => isOurs) && RUNNING.length === INSTALLED.length)
    return JSON.parse(readFileSync(DOCUMENT, "utf8"));
  const { openApiDocument } = await import("../../../docs/generate/openapi/openapi.ts");
  return openApiDocument(operations);
}

function actionsOf({ health }: Runtime): ServiceSchema["actions"] {
  let document: Buffer | undefined;
  return {
    /**
     * Called for each request. Its promise does not settle when the request is answered (`routeHandler`), so a limit on
     * its running calls would stop the gateway. `Overload` limits requests.
     */
    rest: { bulkhead: { enabled: false }, circuitBreaker: { enabled: false } } as unknown as ActionSchema,
    listAliases: false,
    addRoute: false,
    removeRoute: false,
    healthz: unchecked(() => ({ status: "ok" })),
    readyz: unchecked(async (ctx) => {
      const report = await health.report();
      if (report.status !== "ready") ctx.meta.$statusCode = 503;
      return report;
    }),
    metrics: unchecked(exposition),
    docs: unchecked((ctx) => docsPage(ctx.meta)),
    llms: unchecked(() => LLMS_TEXT),
    openapi: unchecked(async () => {
      document ??= Buffer.from(JSON.stringify(await openApi()));
      return document;
    }),
    /** The address of this node. With several gateways, PUBLIC_URL is the one for callers. */
    address: idempotent((ctx) => ({ origin: (ctx.service as unknown as Gateway).server.origin })),
  };
}

/** The hooks of a route, which moleculer-web calls on the service. */
const routeHooks: ThisType<Gateway> & RouteHooks = {
  onBeforeCall(ctx, _route, req, _res, alias) {
    beforeCall(this.edge, ctx, req, alias.op);
  },
  answer(req) {
    return answer(this.edge, exchangeOf(req));
  },
};

async function answer(edge: GatewayContext, exchange: HttpExchange): Promise<void> {
  const { op } = exchange;
  if (op.stream) return stream(edge, exchange);
  if (op.inPages || op.continuedBy) return sendInParts(edge, exchange);
  return edge.send(exchange, await callAction(edge, exchange));
}

/** Has an operation write its own answer to the open connection. */
function stream(edge: GatewayContext, exchange: HttpExchange): Promise<void> {
  const { op, res } = exchange;
  return edge.hold(exchange, async () => {
    const params = await readParams(exchange, edge.runtime);
    // Do not keep the request's body in memory while the stream is open.
    exchange.releaseBody?.();
    const headers = edgeHeaders({ ...exchange, last: false });
    for (let i = 0; i < headers.length; i += 2) res.setHeader(headers[i] as string, headers[i + 1] as string);
    const share = requestShare(exchange);
    exchange.ctx = workOf(exchange.ctx, share, op.action);
    const output = new Output(res, share, op.action);
    await (edge.deps.streams[op.action] as StreamHandler)(exchange, params, edge.linkOf(exchange), output);
  });
}

/** Makes each call of a stream, also of an internal action, work of its caller: no stream passes the door uncounted. */
function workOf({ meta, call }: RootCall, share: Share, operation: string): RootCall {
  return { meta, call: (...args) => asWork(share, operation, () => call(...args)) };
}

/** A route as moleculer-web makes it of its settings. */
interface Route {
  middlewares: ((req: GatewayRequest, res: ServerResponse, next: (err?: unknown) => void) => void)[];
}

/** A route with aliases: its hooks are those of COMMON. */
type AliasRoute = Route &
  Record<"authentication" | "authorization", Hook<void | Promise<void>>> & { onBeforeCall: Hook<void> };
type Hook<R> = (ctx: Context, route: unknown, req: GatewayRequest, res?: unknown, alias?: unknown) => R;

/** The result of `rest`: without one moleculer-web concludes that no route was found. */
const ANSWERED = true;

/** The result of `resolveAlias`. */
interface Target {
  alias: RoutedAlias;
  params: Record<string, string>;
}

/** Methods of moleculer-web that are hooks or that the gateway replaces. */
const methods: ThisType<Gateway> & NonNullable<ServiceSchema["methods"]> = {
  authenticate(_ctx: Context, _route: unknown, req: GatewayRequest) {
    return authenticate(this.edge, exchangeOf(req));
  },
  authorize(_ctx: Context, _route: unknown, req: GatewayRequest) {
    return authorize(this.edge, exchangeOf(req));
  },
  resolveAlias(url: string, method = "GET") {
    const target = this.router.resolve(url, method);
    return target && { alias: this.aliasOf.get(target.op), params: target.path };
  },
  /** The original listens for three events of each response. Here only files, whose middleware calls no `next`, need one. */
  async routeHandler(_ctx: Context, route: Route, req: GatewayRequest, res: ServerResponse, target?: Target) {
    for (const middleware of route.middlewares) {
      const isAnswered = await new Promise<boolean>((resolve, reject) => {
        res.once("close", () => resolve(true));
        middleware(req, res, (err) => (err ? reject(err) : resolve(false)));
      });
      if (isAnswered) return ANSWERED;
    }
    if (!target) return null;
    Object.assign(req, { $route: route, $alias: target.alias, $params: { params: target.params } });
    return this.aliasHandler(req, res, target.alias);
  },
  /**
   * The original waits for `next`, which an alias that answers itself never calls: the call would never end, and V8 does not
   * optimize functions that never return.
   */
  async aliasHandler(req: GatewayRequest, res: ServerResponse, alias: RoutedAlias): Promise<true> {
    const { $ctx: ctx, $route: route } = req as GatewayRequest & { $ctx: Context; $route: AliasRoute };
    route.onBeforeCall.call(this, ctx, route, req, res, alias);
    await route.authentication.call(this, ctx, route, req);
    await route.authorization.call(this, ctx, route, req);
    await alias.handler.call(this, req);
    return ANSWERED;
  },
  errorHandler(req: GatewayRequest, res: ServerResponse, err: unknown) {
    this.sendError(req, res, err);
  },
};

/** An alias of moleculer-web, bound to its operation. */
interface RoutedAlias {
  handler: RouteHooks["answer"];
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

/** Functions of the gateway for a route. moleculer-web calls these on the service. */
interface RouteHooks {
  onBeforeCall: (ctx: Context, route: unknown, req: GatewayRequest, res: unknown, alias: RoutedAlias) => void;
  /** The alias of every operation: it reads the body, calls the action by name and sends the answer. */
  answer: (req: GatewayRequest) => Promise<void>;
}

/** Builds the routes of moleculer-web: an alias for each operation, and the files of the pages. */
function routesOf(operations: readonly Operation[], { onBeforeCall, answer }: RouteHooks) {
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
function bindAliases(aliases: RoutedAlias[], operations: readonly Operation[]): Map<Operation, RoutedAlias> {
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
