import { Role, type SendMessageRequest, type TaskPushNotificationConfig } from "@a2a-js/sdk";
import { type Client, ClientFactory, JsonRpcTransportFactory } from "@a2a-js/sdk/client";
import type { TestAgent } from "../../../test/support/agents.ts";
import type { TestServer } from "../../../test/support/server.ts";
import { ok } from "../../../test/support/tenancy.ts";

export const cardUrl = (server: TestServer, id: string) =>
  `${server.root}/a2a/${id}/.well-known/agent-card.json`;

/** The official client of an agent, with a caller's token. */
export const a2aClient = (server: TestServer, agent_id: string, token: string) =>
  a2aClientAt(`${server.root}/a2a/${agent_id}/rpc`, token);

/** The official client of the agent at an address. */
export function a2aClientAt(url: string, token: string): Promise<Client> {
  const fetchImpl: typeof fetch = (to, init) => {
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer ${token}`);
    return fetch(to, { ...init, headers });
  };
  const factory = new ClientFactory({ transports: [new JsonRpcTransportFactory({ fetchImpl })] });
  return factory.createFromUrl(url);
}

/** A message to send, without waiting for the agent unless configured otherwise. */
export function a2aRequest(
  messageId: string,
  more: object = {},
  configured: object = {},
): SendMessageRequest {
  const part = { content: { $case: "text" as const, value: `text of ${messageId}` } };
  const message = { messageId, contextId: "", taskId: "", role: Role.ROLE_USER, parts: [part] };
  const configuration = {
    ...{ acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: true },
    ...configured,
  };
  return {
    ...{ tenant: "", metadata: undefined, configuration },
    message: { ...message, metadata: undefined, extensions: [], referenceTaskIds: [], ...more },
  } as unknown as SendMessageRequest;
}

export function pushConfig(url: string, more: Partial<TaskPushNotificationConfig> = {}) {
  return { tenant: "", id: "", taskId: "", url, token: "", authentication: undefined, ...more };
}

/** Receives the next event, as the agent does. */
export async function nextEvent(worker: TestAgent) {
  const { deliveries } = ok(await worker.get("/delivery/poll?wait=30&limit=1"));
  const [{ id, payload }] = deliveries;
  ok(await worker.post("/delivery/ack", { delivery_ids: [id] }));
  return payload;
}
