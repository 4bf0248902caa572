/** How an operation is called over HTTP, as its contract declares it. */
export interface Operation {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";
  /** With its placeholders: `/agents/{agent_id}`. */
  path: string;
  /** Stands at the origin, not under `/v1`. */
  root?: true;
  /** Names that go into the query of a request that has a body too. */
  query?: readonly string[];
  /** The parameter that is the whole body. */
  whole?: string;
  /** Media type of the body when it is not JSON. */
  sends?: string;
  /** Needs no proof of who calls. */
  open?: true;
  /** Who alone may call it. */
  by?: "agent" | "user" | "org_admin" | "operator" | "monitor";
  /** What the caller's token has to be good for. */
  scope?: string;
  /** Agents may call it; of people these alone. */
  people?: "org_admin";
  /** A change that may be made twice with the same outcome: retried without an Idempotency-Key. */
  repeatable?: true;
  /** Server-sent events. */
  stream?: true;
  /** Answers with a document, in text or bytes; or with JSON in its place. */
  document?: true;
  /** Comes in pages: the field of the answer with the items (empty: the answer itself), and how to ask for the next. */
  pages?: { items: string; by: "cursor" | "offset" };
}

/** What one call does otherwise than its client. */
export interface CallOptions {
  /** Ends the call, its retries included. */
  signal?: AbortSignal;
  /** Instead of one made for this call: the same key never has its effect twice. */
  idempotencyKey?: string;
  /** How often to try again; 0 for once only. */
  retries?: number;
  /** How long one try may take. */
  timeoutMs?: number;
  headers?: Record<string, string>;
  /** Instead of the client's: to watch the progress of an upload, say. */
  fetch?: typeof fetch;
}

export type Call<Params, Result> =
  Record<never, never> extends Params
    ? (params?: Params, options?: CallOptions) => Promise<Result>
    : (params: Params, options?: CallOptions) => Promise<Result>;

/** One page by a call; all of them, page after page, by `all`. */
export type PagedCall<Params, Result, Item> = Call<Params, Result> & {
  all: Record<never, never> extends Params
    ? (params?: Params, options?: CallOptions) => AsyncGenerator<Item, void>
    : (params: Params, options?: CallOptions) => AsyncGenerator<Item, void>;
};

/** A message of a stream of server-sent events; comments are left out. */
export interface StreamMessage {
  event: string;
  id: string | undefined;
  data: unknown;
}

/** One connection: it ends when the server ends it, and is left by leaving the loop or by the signal. */
export type StreamCall<Params> = (
  params?: Params,
  options?: CallOptions,
) => AsyncGenerator<StreamMessage, void>;
