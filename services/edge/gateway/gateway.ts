import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServiceBroker, ServiceSchema, ServiceSettingSchema } from "moleculer";
import ApiGateway from "moleculer-web";
import { exposition } from "../../../observability/metrics.ts";
import { idempotent, local, type Runtime } from "../../runtime.ts";
import type { AuthChange } from "./access/authenticate.ts";
import { Edge, type EdgeParts } from "./edge.ts";
import { openApiDocument } from "./openapi/openapi.ts";
import { ASSETS, docsPage } from "./pages/docs.ts";
import { HttpServer } from "./server.ts";

/**
 * The HTTP edge: moleculer-web as the service and for static files, with a handler of our own for requests. Its
 * route life cycle would make a context that is only copied from, and take half of a request's CPU time
 * (docs/decisions/0010-edge.md).
 */
export function gateway(runtime: Runtime, partsOf: (broker: ServiceBroker) => EdgeParts): ServiceSchema {
  const { HOST, PORT } = runtime.config;
  let server: HttpServer;
  let edge: Edge;
  let parts: EdgeParts;
  let document: Buffer | undefined;
  return {
    name: "gateway",
    mixins: [ApiGateway as unknown as ServiceSchema],
    settings: {
      // The server is ours: it says in one line why it cannot listen.
      server: false,
      routes: [{ path: "/", mappingPolicy: "restrict" }],
      logRouteRegistration: false,
      assets: ASSETS,
    } as ServiceSettingSchema,
    actions: {
      rest: false,
      listAliases: false,
      addRoute: false,
      removeRoute: false,
      healthz: local(() => ({ status: "ok" })),
      readyz: local(async (ctx) => {
        const report = await runtime.health.report();
        if (report.status !== "ready") ctx.meta.$statusCode = 503;
        return report;
      }),
      metrics: local(exposition),
      docs: local((ctx) => docsPage(ctx.meta)),
      openapi: local(() => {
        document ??= Buffer.from(JSON.stringify(openApiDocument(parts.operations)));
        return document;
      }),
      /** Where this node listens. With several gateways PUBLIC_URL says better where callers come in. */
      address: idempotent(() => ({ origin: server.origin })),
    },
    events: {
      "auth.changed": {
        context: true,
        handler: (ctx: { params: AuthChange }) => parts.callers.forget(ctx.params),
      },
      /** The node is about to stop: what is under way is answered before its services go. */
      async "node.stopping"() {
        edge.drain();
        await server.close();
      },
    },
    created() {
      parts = partsOf(this.broker);
      const files = (req: IncomingMessage, res: ServerResponse, next: () => void) =>
        this.serve(req, res, next);
      edge = new Edge(runtime, this.broker, parts, files);
      server = new HttpServer(edge.handle);
    },
    async started() {
      await edge.start();
      await server.listen(PORT, HOST);
    },
    async stopped() {
      edge.drain();
      await server.close();
      await edge.stop();
    },
  };
}
