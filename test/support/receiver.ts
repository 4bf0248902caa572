import { type Answer, type Api, agentToken, api } from "./http.ts";
import type { TestServer } from "./server.ts";

/** An agent that receives, and its own token. */
export type Receiver = { id: string; token: string; api: Api; interest_ids: string[] };

export interface ReceiverOptions {
  /** Interests to begin with: a type glob, or the whole body. */
  interests?: (string | object)[];
  /** Fields of the agent except its name. */
  agent?: object;
  scopes?: string[];
}

/** Creates an agent with a key (default scope: `receive`), as `admin`, and interests, as itself. */
export async function newReceiver(
  server: Pick<TestServer, "url">,
  admin: Api,
  name: string,
  { interests = [], agent = {}, scopes = ["receive"] }: ReceiverOptions = {},
): Promise<Receiver> {
  const { id } = (await created(admin.post("/agents", { name, delivery_mode: "poll", ...agent }))).body;
  const { key } = (await created(admin.post(`/agents/${id}/keys`, { scopes }))).body;
  const token = await agentToken(server, key);
  const own = api(server, token);
  const interest_ids: string[] = [];
  for (const interest of interests) {
    const body = typeof interest === "string" ? { event_type: interest } : interest;
    interest_ids.push((await created(own.post(`/agents/${id}/interests`, body))).body.id);
  }
  return { id, token, api: own, interest_ids };
}

/** The same agent with a new key and token: those of before a deactivation stay refused. */
export async function returned(
  server: Pick<TestServer, "url">,
  admin: Api,
  receiver: Receiver,
): Promise<Receiver> {
  const { key } = (await created(admin.post(`/agents/${receiver.id}/keys`, { scopes: ["receive"] }))).body;
  const token = await agentToken(server, key);
  return { ...receiver, token, api: api(server, token) };
}

/** The answer, which must be a 201. @throws Error with what it was */
export async function created(asked: Promise<Answer>): Promise<Answer> {
  const answer = await asked;
  if (answer.status === 201) return answer;
  throw new Error(`expected 201, got ${answer.status}: ${JSON.stringify(answer.body)}`);
}
