import type { McpHttpHandler } from "@modelcontextprotocol/server";
import { operations } from "../../contracts.ts";
import type { Runtime, ServiceFactory } from "../../runtime.ts";
import type { StreamService } from "../gateway/http-exchange.ts";
import { INFO } from "../gateway/openapi/components.ts";
import type { Offer, Session } from "./session.ts";
import {
  invalidInitialize,
  requireOneMessage,
  requireOwnOrigin,
  sendResponse,
  webRequest,
  withoutNulls,
} from "./streamable-http.ts";
import { type Choice, choose, makeTools, type OperationTool } from "./tools.ts";

interface Loaded {
  handler: McpHttpHandler;
  newSession(...of: ConstructorParameters<typeof Session>): Session;
  offer: Omit<Offer, keyof Choice>;
  all: ReadonlyMap<string, OperationTool>;
}

/** Chooses tools like the query, for clients with a fixed address. Other servers read it, too. */
const TOOLS_HEADER = "x-mcp-tools";

/**
 * The operations as tools of the Model Context Protocol: `POST /mcp`, one message each. Stateless between messages, so
 * any node can answer. It runs on every node with a gateway, which passes it requests in process: an open connection
 * cannot travel over NATS. Tools are executed as requests of the gateway, with the same limits, audit and answers.
 */
export const mcpService: ServiceFactory = (runtime) => {
  let loading: Promise<Loaded> | undefined;

  /** Loads the library with the first message, because many nodes never get one. */
  const loaded = () => {
    loading ??= load(runtime).catch((err) => {
      // Retry with the next message: there may have been too many open files.
      loading = undefined;
      throw err;
    });
    return loading;
  };

  const serve: StreamService["serve"] = async (perform, exchange, { message, tools }, { ending }, output) => {
    const { req, res } = exchange;
    requireOwnOrigin(req, runtime.config.PUBLIC_URL);
    requireOneMessage(message);
    const invalid = invalidInitialize(message, req);
    if (invalid) return sendResponse(res, output, invalid);
    const { handler, offer, all, newSession } = await loaded();
    const chosen = choose(all, (tools ?? req.headers[TOOLS_HEADER]) as string | undefined);
    const session = newSession({ ...offer, ...chosen }, exchange, perform, output);
    const authInfo = { token: "", clientId: "", scopes: [], extra: { session } };
    const response = await handler.fetch(webRequest(req, res), {
      authInfo,
      parsedBody: withoutNulls(message),
    });
    if (ending.aborted) res.setHeader("Connection", "close");
    await sendResponse(res, output, response);
  };

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

async function load({ blobs, log }: Runtime): Promise<Loaded> {
  const [{ createMcpHandler }, { serverFor }, { listKinds }, { Session }] = await Promise.all([
    import("@modelcontextprotocol/server"),
    import("./server.ts"),
    import("./resources.ts"),
    import("./session.ts"),
  ]);
  const { version } = INFO;
  const offer = { operations, kinds: listKinds(operations), blobs, version };
  const handler = createMcpHandler(({ authInfo }) => serverFor(authInfo?.extra?.session as Session), {
    onerror: (err) => log.debug({ err }, "an MCP message was rejected"),
  });
  return { handler, offer, all: makeTools(operations), newSession: (...of) => new Session(...of) };
}
