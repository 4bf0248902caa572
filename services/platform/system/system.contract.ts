import { Type } from "typebox";
import { component, nullable, operation, optional } from "../../../lib/contract/contract.ts";

export const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const Health = Type.Object({ status: Type.Literal("ok") });

/** Both under the version segment and at the origin (api.md "Others"). */
const health = {
  summary: "Check that the process runs",
  access: { by: "public" },
  answer: Health,
} as const;

export const checkHealth = operation({
  action: "gateway.healthz",
  route: "GET /healthz",
  root: true,
  ...health,
});
export const checkHealthV1 = operation({ action: "gateway.healthz", route: "GET /healthz", ...health });

export const checkReadiness = operation({
  action: "gateway.readyz",
  route: "GET /readyz",
  root: true,
  summary: "Check that this node can serve requests",
  access: { by: "public" },
  results: {
    200: Type.Object({ status: Type.Literal("ready"), checks: Type.Record(Type.String(), Type.String()) }),
    503: Type.Object({
      status: Type.Literal("not_ready"),
      checks: Type.Record(Type.String(), Type.String()),
    }),
  },
});

export const getMetrics = operation({
  action: "gateway.metrics",
  route: "GET /metrics",
  root: true,
  summary: "Read this node's metrics in the Prometheus text format",
  access: { by: "monitor" },
  answer: Type.String(),
  produces: [EXPOSITION_TYPE],
});

/** Both under the version segment and at the origin (api.md "Others"). */
const document = {
  action: "gateway.openapi",
  summary: "Read this document (OpenAPI 3.1)",
  access: { by: "public" },
  answer: Type.Record(Type.String(), Type.Unknown(), { examples: [{ openapi: "3.1.0" }] }),
} as const;

export const getOpenapi = operation({ route: "GET /openapi.json", root: true, ...document });
export const getOpenapiV1 = operation({ route: "GET /openapi.json", ...document });

const JsonRpcError = component(
  "JsonRpcError",
  {
    jsonrpc: Type.Literal("2.0"),
    error: Type.Object({ code: Type.Integer(), message: Type.String() }),
    id: nullable(Type.Union([Type.String(), Type.Number()])),
  },
  { description: "A JSON-RPC error, as the protocol defines it." },
);

/** The gateway reports errors of the request, the protocol those of a message. */
const Refusal = Type.Union([JsonRpcError, Type.Unsafe({ $ref: "#/components/schemas/Error" })]);

/** Both under the version segment and at the origin (api.md "Others"). */
const protocol = {
  action: "gateway.mcp",
  summary: "Send a message of the Model Context Protocol",
  description:
    "Streamable HTTP without sessions, one JSON-RPC message per request. Supports revision 2026-07-28, and those of 2025 " +
    "for older clients. The tools are the operations that the caller may use, named after the operation with `_` " +
    "instead of the dot.",
  access: { by: "any" },
  overQuota: true,
  query: optional({
    tools: Type.String({
      description:
        "Tools to offer, as comma-separated presets (core, sense, remember, work, all), domains or names. Default: " +
        "core is listed, and all can be called. The header `X-MCP-Tools` does the same.",
      examples: ["core,documents,channels_list"],
    }),
  }),
  wholeBody: true,
  body: { message: Type.Unknown({ examples: [{ jsonrpc: "2.0", id: 1, method: "tools/list" }] }) },
  maxBody: 4_194_304,
  results: {
    200: Type.Unknown({ description: "A JSON-RPC response, or server-sent events that end with one." }),
    400: Refusal,
    406: JsonRpcError,
    415: Refusal,
  },
  stream: true,
} as const;

export const sendMcpMessage = operation({ route: "POST /mcp", root: true, ...protocol });
export const sendMcpMessageV1 = operation({ route: "POST /mcp", ...protocol });

export const getDocs = operation({
  action: "gateway.docs",
  route: "GET /docs",
  root: true,
  summary: "Read this document as a page",
  access: { by: "public" },
  answer: Type.String(),
  produces: ["text/html; charset=utf-8"],
});

export const getLlmsText = operation({
  action: "gateway.llms",
  route: "GET /llms.txt",
  root: true,
  summary: "Read how an agent uses this service",
  access: { by: "public" },
  answer: Type.String(),
  produces: ["text/markdown; charset=utf-8"],
});
