import { Type } from "typebox";
import { component, oneOf, operation } from "../../lib/contract/contract.ts";
import { AnyText, Timestamp } from "../../lib/contract/schema.ts";

/** The media type of an AI Catalog, and of an entry that continues one. */
export const CATALOG_TYPE = "application/ai-catalog+json";

const Entry = component("CatalogEntry", {
  identifier: Type.String({
    description: "Id of the agent, or of the entry that continues the catalogue.",
    examples: ["ag_4fXq1mCz8Jw0bT7kLr2N"],
  }),
  type: oneOf(["application/a2a-agent-card+json", CATALOG_TYPE], {
    description: "An agent card, or the rest of the catalogue.",
  }),
  url: Type.String({ format: "uri", description: "Address of the card, or of the rest." }),
  displayName: Type.String({ examples: ["Researcher"] }),
  description: Type.Optional(Type.String({ description: "What the agent is for, if that is known." })),
  updatedAt: Type.Optional(Timestamp),
});

export const getAgentCatalog = operation({
  action: "a2a.catalog",
  route: "GET /.well-known/ai-catalog.json",
  root: true,
  summary: "List the agents that can be called over A2A",
  description:
    "An AI Catalog (0.9) with the cards of the tenant's active agents with `a2a`, oldest first, at most 200. If there are " +
    "more, the last entry is a catalogue with the next. Agents of other tenants are never listed.",
  access: { by: "any", scope: "send" },
  query: {
    after: Type.Optional(AnyText(5000, "As in the address of the entry that continues a catalogue.")),
  },
  answer: component("AgentCatalog", {
    specVersion: Type.Literal("0.9"),
    host: Type.Object({
      displayName: Type.String({ examples: ["Sensorium"] }),
      documentationUrl: Type.String({ format: "uri" }),
    }),
    entries: Type.Array(Entry),
  }),
  produces: [CATALOG_TYPE],
});

export const getAgentCard = operation({
  action: "a2a.card",
  route: "GET /a2a/{agent_id}/.well-known/agent-card.json",
  also: ["/a2a/{agent_id}/rpc/.well-known/agent-card.json"],
  root: true,
  summary: "Read an agent's A2A card",
  description:
    "The agent card of A2A 1.0, public: name, description, address and how to authenticate. Clients find it from the " +
    "address `/a2a/{agent_id}/rpc`, with or without a slash at the end. Agents without `a2a`, " +
    "inactive ones and those that do not exist answer alike, with `not_found`.",
  access: { by: "public" },
  answer: Type.Record(Type.String(), Type.Unknown(), {
    description: "An agent card, as the protocol defines it.",
    examples: [{ name: "Researcher", capabilities: { streaming: true } }],
  }),
});

export const callAgent = operation({
  action: "gateway.a2a",
  route: "POST /a2a/{agent_id}",
  // The address in cards: relative to `/a2a/ag_1`, clients would look for the card at `/a2a/.well-known`.
  also: ["/a2a/{agent_id}/rpc"],
  root: true,
  summary: "Send a request of the Agent2Agent protocol to an agent",
  description:
    "A2A 1.0 over JSON-RPC, with the header `A2A-Version: 1.0`: SendMessage, SendStreamingMessage, GetTask, ListTasks, " +
    "CancelTask, SubscribeToTask, and CreateTaskPushNotificationConfig with its Get, List and Delete. Callers see only " +
    "tasks that they sent.",
  access: { by: "any", scope: "send" },
  wholeBody: true,
  body: { message: Type.Unknown({ examples: [{ jsonrpc: "2.0", id: 1, method: "ListTasks", params: {} }] }) },
  maxBody: 524_288,
  answer: Type.Unknown({
    description: "A JSON-RPC response, or server-sent events with one each for methods that stream.",
  }),
  stream: true,
});
