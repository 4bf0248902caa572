import { Agent, request } from "node:http";

/** Further headers of a request. */
type Headers = Record<string, string>;

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: each part knows the shape of what it asks for
  body: any;
}

/** A client with little CPU cost for the generator: it keeps connections and does not use `fetch`. */
export interface Client {
  token: string;
  /** Rejects without an answer. */
  ask(method: string, path: string, body?: unknown, type?: string, more?: Headers): Promise<Answer>;
  /** Resolves to the parsed body; rejects unless the status is below 300. */
  // biome-ignore lint/suspicious/noExplicitAny: each part knows the shape of what it asks for
  send(method: string, path: string, body?: unknown, type?: string, more?: Headers): Promise<any>;
  close(): void;
}

export const BATCH_TYPE = "application/cloudevents-batch+json";

const MAX_CONNECTIONS = 256;

/** Returns a client of a server under `url`, with the credentials `token`. */
export function newClient(url: string, token: string): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_CONNECTIONS });
  const ask: Client["ask"] = (method, path, body, type = "application/json", more = {}) =>
    new Promise((resolve, reject) => {
      const headers: Headers = { ...more, authorization: `Bearer ${token}` };
      if (body !== undefined) headers["content-type"] = type;
      const req = request(url + path, { agent, method, headers }, (res) => {
        let text = "";
        res.setEncoding("utf8").on("data", (chunk) => {
          text += chunk;
        });
        res.on("end", () => {
          const isJson = res.headers["content-type"]?.includes("json");
          resolve({ status: res.statusCode as number, body: isJson ? JSON.parse(text) : undefined });
        });
      });
      req.on("error", (err: NodeJS.ErrnoException) => {
        // The server had closed an idle connection, without reading anything from it.
        if (req.reusedSocket && err.code === "ECONNRESET") resolve(ask(method, path, body, type, more));
        else reject(err);
      });
      req.end(body === undefined ? undefined : JSON.stringify(body));
    });
  const send: Client["send"] = async (method, path, given, type, more) => {
    const { status, body } = await ask(method, path, given, type, more);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  return { token, ask, send, close: () => agent.destroy() };
}
