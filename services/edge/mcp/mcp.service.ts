import type { Service } from "moleculer";
import type { OfTenant } from "../../../lib/access/caller.ts";
import { VERSION } from "../../../lib/version.ts";
import { operations } from "../../contracts.ts";
import type { Runtime, ServiceFactory } from "../../runtime.ts";
import type { StreamService } from "../gateway/http-exchange.ts";
import type { Session } from "./session.ts";
import {
  invalidInitialize,
  requireOneMessage,
  requireOwnOrigin,
  sendResponse,
  webRequest,
  withoutNulls,
} from "./streamable-http.ts";
import { choose, makeTools } from "./tools.ts";

/** Chooses tools like the query, for clients with a fixed address. Other servers read it, too. */
const TOOLS_HEADER = "x-mcp-tools";

/**
 * The operations as tools of the Model Context Protocol: `POST /mcp`, one message each. Stateless between messages, so
 * any node can answer. It runs on every node with a gateway, which passes it requests in process: an open connection
 * cannot travel over NATS. Tools are executed as requests of the gateway, with the same limits, audit and answers.
 */
export const mcpService: ServiceFactory = (runtime) => {
  let loading: ReturnType<typeof load> | undefined;

  /** Loads the library with the first message, because many nodes never get one. */
  const loaded = () => {
    loading ??= load(runtime).catch((err) => {
      // Retry with the next message: too many files were perhaps open.
      loading = undefined;
      throw err;
    });
    return loading;
  };

  async function serve(this: Service, ...request: Parameters<StreamService["serve"]>): Promise<void> {
    const [{ perform, changes, arrivals }, exchange, { message, tools }, link, output] = request;
    const { req, res } = exchange;
    requireOwnOrigin(req, runtime.config.PUBLIC_URL);
    requireOneMessage(message);
    const invalid = invalidInitialize(message, req);
    if (invalid) return sendResponse(res, output, invalid);
    const { handler, offer, all, Session, newHandler, listener } = await loaded();
    const chosen = choose(all, (tools ?? req.headers[TOOLS_HEADER]) as string | undefined);
    const session = new Session({ ...offer, ...chosen }, exchange, perform, output);
    const authInfo = { token: "", clientId: "", scopes: [], extra: { session } };
    const options = { authInfo, parsedBody: withoutNulls(message) };
    const wanted = listener.wantedBy(message);
    if (wanted) {
      const { tenant_id } = session.caller;
      const watch = () => this.broker.broadcast("events.watched", { tenant_id } satisfies OfTenant);
      const subscription = new listener.Subscription(session, wanted, { changes, arrivals, watch });
      return listener.listen(subscription, newHandler(), options, { exchange, link, output });
    }
    const response = await handler.fetch(webRequest(req, res), options);
    if (link.ending.aborted) res.setHeader("Connection", "close");
    await sendResponse(res, output, response);
  }

  return {
    name: "mcp",
    methods: { serve },
    /** Ends the messages in progress. */
    async stopped() {
      const { handler } = (await loading?.catch(() => null)) ?? {};
      await handler?.close();
    },
  };
};

async function load({ blobs, log }: Runtime) {
  const [{ createMcpHandler }, { serverFor }, { listKinds }, { Session }, listener] = await Promise.all([
    import("@modelcontextprotocol/server"),
    import("./server.ts"),
    import("./resources.ts"),
    import("./session.ts"),
    import("./subscriptions.ts"),
  ]);
  const offer = { operations, kinds: listKinds(operations), blobs, version: VERSION };
  const newHandler = () =>
    createMcpHandler(
      ({ authInfo, era }) => serverFor(authInfo?.extra?.session as Session, era === "modern"),
      { onerror: (err) => log.debug({ err }, "an MCP message was rejected") },
    );
  return { handler: newHandler(), offer, all: makeTools(operations), Session, newHandler, listener };
}
