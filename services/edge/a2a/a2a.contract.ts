import { Type } from "typebox";
import { operation } from "../../../lib/contract/contract.ts";
import { Id } from "../../../lib/contract/schema.ts";

const path = { agent_id: Id("ag") };

export const getA2aCard = operation({
  action: "a2a.card",
  operationId: "getAgentCard",
  route: "GET /a2a/{agent_id}/.well-known/agent-card.json",
  root: true,
  summary: "Read an agent's A2A card",
  description:
    "The agent card of A2A 1.0, public: name, description, address and how to authenticate. Clients find it from the " +
    "address `/a2a/{agent_id}/rpc`, with or without a slash at the end. Agents without `a2a`, " +
    "inactive ones and those that do not exist answer alike, with `not_found`.",
  access: { by: "public", guarded: true },
  path,
  results: {
    200: Type.Record(Type.String(), Type.Unknown(), {
      description: "An agent card, as the protocol defines it.",
      examples: [{ name: "Researcher", capabilities: { streaming: true } }],
    }),
  },
  errors: ["not_found"],
});

export const sendA2a = operation({
  action: "gateway.a2a",
  operationId: "callAgent",
  route: "POST /a2a/{agent_id}",
  root: true,
  summary: "Send a request of the Agent2Agent protocol to an agent",
  description:
    "A2A 1.0 over JSON-RPC, with the header `A2A-Version: 1.0`: SendMessage, SendStreamingMessage, GetTask, ListTasks, " +
    "CancelTask, SubscribeToTask, and CreateTaskPushNotificationConfig with its Get, List and Delete. Callers see only " +
    "tasks that they sent.",
  access: { by: "any", scope: "send" },
  path,
  wholeBody: true,
  body: { message: Type.Unknown({ examples: [{ jsonrpc: "2.0", id: 1, method: "ListTasks", params: {} }] }) },
  maxBody: 524_288,
  results: {
    200: Type.Unknown({
      description: "A JSON-RPC response, or server-sent events with one each for methods that stream.",
    }),
  },
  errors: ["not_found"],
  stream: true,
});

export const a2aOperations = [getA2aCard, sendA2a] as const;
