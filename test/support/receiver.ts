import { newAgent } from "./agents.ts";
import type { Api } from "./http.ts";
import type { TestServer } from "./server.ts";
import { ok } from "./tenancy.ts";

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
  const { id, token, ...own } = await newAgent(server, admin, scopes, { name, ...agent });
  const interest_ids: string[] = [];
  for (const interest of interests) {
    const body = typeof interest === "string" ? { event_type: interest } : interest;
    interest_ids.push(ok(await own.post(`/agents/${id}/interests`, body)).id);
  }
  return { id, token, api: own, interest_ids };
}
