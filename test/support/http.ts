import { once } from "./once.ts";
import type { TestServer } from "./server.ts";

const { requireFit } = once("./fits.ts") as typeof import("./fits.ts");

// biome-ignore lint/suspicious/noExplicitAny: tests assert on shapes that the type checker cannot know
export type Json = any;

export interface Answer {
  status: number;
  headers: Headers;
  /** The parsed JSON body, else its text, else undefined when it is empty. */
  body: Json;
}

export interface Api {
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  put(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  patch(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  del(path: string, headers?: Record<string, string>): Promise<Answer>;
}

/**
 * A client for `server`. Paths start with `/`, relative to the base URL, or are whole URLs. A body that is
 * a string or bytes is sent unchanged, anything else as JSON; `headers` come last and win.
 */
export function api(server: Pick<TestServer, "url">, token?: string): Api {
  const call = (method: string) => (path: string, body?: unknown, headers?: Record<string, string>) =>
    send(path.startsWith("/") ? server.url + path : path, method, token, body, headers);
  return {
    get: (path, headers) => call("GET")(path, undefined, headers),
    ...{ post: call("POST"), put: call("PUT"), patch: call("PATCH") },
    del: (path, headers) => call("DELETE")(path, undefined, headers),
  };
}

/** Exchanges an agent's API key for an access token. @throws Error when the server refuses. */
export async function agentToken(server: Pick<TestServer, "url">, apiKey: string): Promise<string> {
  const { status, body } = await api(server).post("/auth/token", { api_key: apiKey });
  if (status !== 200) throw new Error(`POST /auth/token answered ${status}: ${JSON.stringify(body)}`);
  return body.access_token;
}

async function send(
  url: string,
  method: string,
  token: string | undefined,
  body: unknown,
  extra: Record<string, string> = {},
): Promise<Answer> {
  const headers = new Headers(token ? { authorization: `Bearer ${token}` } : {});
  if (body !== undefined) headers.set("content-type", "application/json");
  for (const [name, value] of Object.entries(extra)) headers.set(name, value);
  const raw = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
  const response = await fetch(url, { method, headers, ...(raw === undefined ? {} : { body: raw }) });
  const answer = parse(await response.text());
  requireFit({ method, url, status: response.status, body: answer });
  return { status: response.status, headers: response.headers, body: answer };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text === "" ? undefined : text;
  }
}
