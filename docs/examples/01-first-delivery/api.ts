import type { CloudEvent } from "cloudevents";

export interface PublishResult {
  event_id: string;
  status: "accepted" | "duplicate";
}

/** The API calls of this example, over plain `fetch`. */
export class Api {
  readonly #base: string;
  readonly #token: string;

  constructor(base: string, token: string) {
    this.#base = base;
    this.#token = token;
  }

  /** Exchanges an API key for a one-hour token. */
  static async login(base: string, api_key: string): Promise<Api> {
    const anonymous = new Api(base, "");
    const { access_token } = await anonymous.post<{ access_token: string }>("/auth/token", { api_key });
    return new Api(base, access_token);
  }

  post<T>(path: string, body: unknown, type = "application/json"): Promise<T> {
    return this.#json(path, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": type },
    });
  }

  patch<T>(path: string, body: unknown): Promise<T> {
    return this.#json(path, {
      method: "PATCH",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    });
  }

  /** Publishes up to 100 events in one request; each has its own result. */
  publish(events: CloudEvent<unknown>[]): Promise<PublishResult[]> {
    return this.post("/events", events, "application/cloudevents-batch+json");
  }

  /** Yields the lines of a server-sent event stream until the caller stops reading. */
  async *lines(path: string): AsyncGenerator<string> {
    const response = await this.#fetch(path, { headers: { accept: "text/event-stream" } });
    let rest = "";
    for await (const chunk of (response.body as ReadableStream).pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split(/\r\n|[\n\r]/);
      rest = lines.pop() ?? "";
      yield* lines;
    }
  }

  async #json<T>(path: string, init: RequestInit): Promise<T> {
    return (await (await this.#fetch(path, init)).json()) as T;
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    if (this.#token) headers.set("authorization", `Bearer ${this.#token}`);
    const response = await fetch(this.#base + path, { ...init, headers });
    if (!response.ok)
      throw new Error(`${init.method ?? "GET"} ${path}: ${response.status} ${await response.text()}`);
    return response;
  }
}
