/** How an operation is called over HTTP, from its contract. */
export interface Operation {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";
  /** With its placeholders: `/agents/{agent_id}`. */
  path: string;
  /** At the origin, not under `/v1`. */
  root?: true;
  /** Names in the query of a request that also has a body. */
  query?: readonly string[];
  /** The parameter that is the whole body. */
  whole?: string;
  /** Media type of a body that is not JSON. */
  sends?: string;
  /** Needs no authentication. */
  open?: true;
  /** The only callers allowed. */
  by?: "agent" | "user" | "org_admin" | "operator" | "monitor";
  /** The scope that the caller's token must have. */
  scope?: string;
  /** Agents may call it; of people, only these. */
  people?: "org_admin";
  /** An idempotent change: retried without an Idempotency-Key. */
  repeatable?: true;
  /** Server-sent events. */
  stream?: true;
  /** Answers with a document, as text or bytes, or with JSON. */
  document?: true;
  /** Answers with a file as it is, even one of JSON. */
  file?: true;
  pages?: Paging;
  /** Recorded in the audit log. */
  audited?: true;
}

/** The answer's field with the items (empty: the answer itself), and how to request the next page. */
interface Paging {
  items: string;
  by: "cursor" | "offset";
}

/** Options of one call that override the client's. */
export interface CallOptions {
  /** Ends the call, including its retries. */
  signal?: AbortSignal;
  /** Replaces the generated key: requests with the same key take effect only once. */
  idempotencyKey?: string;
  /** Number of retries; 0 for a single attempt. */
  retries?: number;
  /** Timeout of one attempt. */
  timeoutMs?: number;
  headers?: Record<string, string>;
  /** Replaces the client's, for example to track the progress of an upload. */
  fetch?: typeof fetch;
}

export type Call<Params, Result> =
  Record<never, never> extends Params
    ? (params?: Params, options?: CallOptions) => Promise<Result>
    : (params: Params, options?: CallOptions) => Promise<Result>;

/** A call returns one page; `all` returns all items, page by page. */
export type PagedCall<Params, Result, Item> = Call<Params, Result> & {
  all: Record<never, never> extends Params
    ? (params?: Params, options?: CallOptions) => AsyncGenerator<Item, void>
    : (params: Params, options?: CallOptions) => AsyncGenerator<Item, void>;
  pages: Paging;
};

/** A message of a stream of server-sent events, without comments. */
export interface StreamMessage {
  event: string;
  id: string | undefined;
  data: unknown;
}

/** One connection: it ends with the server, when the loop is left, or by the signal. */
export type StreamCall<Params> = (
  params?: Params,
  options?: CallOptions,
) => AsyncGenerator<StreamMessage, void>;
