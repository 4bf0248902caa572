import { type Authorization, byKey, byToken } from "./authorize.ts";
import { OPERATIONS } from "./generated/operations.ts";
import type { Api, CloudEvent, PublishResult } from "./generated/types.ts";
import type { Handler, ListenOptions } from "./handler.ts";
import { Listener } from "./listen.ts";
import type { CallOptions, Operation } from "./operation.ts";
import { allPages } from "./paging.ts";
import { bodyOfAnswer, type Connection, request, streamOfAnswer } from "./request.ts";
import { messagesOf } from "./sse.ts";
import { randomKey } from "./support.ts";

/** How a client reaches the service, and as whom. */
export interface ClientOptions {
  /** Where the service is: its origin, or its base URL with `/v1`. */
  url: string;
  /** An agent's API key. Exactly one of `apiKey`, `token` and `authorize`, or none for what is public. */
  apiKey?: string;
  /** An access token, or the operator's token. */
  token?: string | (() => string | Promise<string>);
  /** Another way to prove who calls: `byLogin`, `bySession`, or one of your own. */
  authorize?: Authorization;
  /** How often a request that may be repeated is tried again. Default 3. */
  retries?: number;
  /** How long one try may take. Default 60 s. */
  timeoutMs?: number;
  /** Instead of the platform's. */
  fetch?: typeof fetch;
}

/** One function for each operation of the service, and what agents do all the time made short. */
export interface Client extends Api {
  /** Publishes an event; `id`, without one, is made here, so that however often it is tried it is published once. */
  publish(event: NewEvent, options?: CallOptions): Promise<PublishResult>;
  /** Receives the agent's deliveries, until it is stopped, and acknowledges what the handler has done. */
  listen(handler: Handler, options?: ListenOptions): Listener;
}

/** A CloudEvent to publish; other names are extension attributes. */
export type NewEvent = Partial<CloudEvent> & Pick<CloudEvent, "type" | "source"> & Record<string, unknown>;

/** A client of a service. Nothing is sent before the first call; nothing has to be closed but listeners. */
export function createClient(options: ClientOptions): Client {
  const connection = connectionOf(options);
  const api = apiOn(connection);
  const publish: Client["publish"] = async (event, callOptions) => {
    const whole = { specversion: "1.0", id: randomKey(), ...event } as CloudEvent;
    // An answer to one event, never to a batch.
    return (await api.events.publish({ event: whole }, callOptions)) as PublishResult;
  };
  return { ...api, publish, listen: (handler, how) => new Listener({ connection, api }, handler, how) };
}

const DEFAULTS = { retries: 3, timeoutMs: 60_000 };

function connectionOf({ url, retries, timeoutMs, fetch: own, ...proof }: ClientOptions): Connection {
  return {
    origin: originOf(url),
    authorization: authorizationOf(proof),
    // Browsers refuse a fetch that is called as somebody's method.
    fetch: own ?? ((input, init) => fetch(input, init)),
    retries: retries ?? DEFAULTS.retries,
    timeoutMs: timeoutMs ?? DEFAULTS.timeoutMs,
  };
}

/** What stands before the paths of operations. @throws TypeError */
export function originOf(url: string): string {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new TypeError(`"${url}" is no address: expected one like https://afferent.example.com.`);
  return url.replace(/\/+$/, "").replace(/\/v1$/, "");
}

function authorizationOf(
  proof: Pick<ClientOptions, "apiKey" | "token" | "authorize">,
): Authorization | undefined {
  const { apiKey, token, authorize } = proof;
  const given = [apiKey && byKey(apiKey), token && byToken(token), authorize].filter(
    (each) => each !== undefined,
  );
  if (given.length > 1) throw new TypeError("Give one of apiKey, token and authorize, not several.");
  return (given[0] || undefined) as Authorization | undefined;
}

type Params = Record<string, unknown>;

function apiOn(connection: Connection): Api {
  const groups = Object.entries(OPERATIONS).map(([service, calls]) => {
    const entries = Object.entries<Operation>(calls).map(([name, operation]) => [
      name,
      callOf(connection, operation),
    ]);
    return [service, Object.fromEntries(entries)];
  });
  return Object.fromEntries(groups) as Api;
}

function callOf(connection: Connection, operation: Operation): unknown {
  if (operation.stream) return streamOf(connection, operation);
  const call = async (params: Params = {}, options?: CallOptions) =>
    bodyOfAnswer(await request(connection, operation, params, options), operation);
  const { pages } = operation;
  if (!pages) return call;
  const all = (params: Params = {}, options?: CallOptions) => allPages(pages, call, params, options);
  return Object.assign(call, { all });
}

function streamOf(connection: Connection, operation: Operation) {
  return async function* (params: Params = {}, options?: CallOptions) {
    yield* messagesOf(await streamOfAnswer(await request(connection, operation, params, options)));
  };
}
