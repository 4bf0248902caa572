import { findAccess, parseOrigin } from "./access.ts";
import { type Authorization, byKey, byToken } from "./authorize.ts";
import type { EventOf, EventsOf, NewEvent, NewEventOf } from "./event-types.ts";
import { OPERATIONS } from "./generated/operations.ts";
import type {
  Api,
  CloudEvent,
  Interest,
  MemoriesCreateParams,
  Memory,
  PublishResult,
  RejectedEvent,
} from "./generated/types.ts";
import type { Handler, ListenOptions } from "./handler.ts";
import { ensureInterest, type NewInterest } from "./interest.ts";
import { Listener } from "./listen.ts";
import type { CallOptions, Operation } from "./operation.ts";
import { allPages } from "./paging.ts";
import { bodyOfAnswer, type Connection, request, streamOfAnswer, type Wait } from "./request.ts";
import { messagesOf } from "./sse.ts";
import { escapeControls, randomKey } from "./support.ts";

/** How a client connects and authenticates. */
export interface ClientOptions {
  /**
   * The service's origin; its addresses with `/v1` or `/mcp` are understood too. Default: `SENSORIUM_URL` of the
   * environment, the address that `sensorium connect` saved, `http://127.0.0.1:3000`.
   */
  url?: string;
  /**
   * An agent's API key. Default, without `token` and `authorize`: `SENSORIUM_API_KEY` of the environment, or the key that
   * `sensorium connect` saved, if it is for the same address.
   */
  apiKey?: string | undefined;
  /** An access token, or the operator's token. */
  token?: string | (() => string | Promise<string>);
  /** Other authentication: `byLogin`, `bySession`, or your own. */
  authorize?: Authorization;
  /** For operations that need no authentication, such as a sign-in. */
  anonymous?: boolean;
  /** How often a repeatable request is retried. Default 3. */
  retries?: number;
  /** Timeout of one attempt. Default 60 s. */
  timeoutMs?: number;
  /**
   * Called when the service limits the caller or is busy, before the client waits as long as the service says. Default: warns
   * on the console, the first time.
   */
  onWait?: (wait: Wait) => void;
  /** Replaces the platform's `fetch`. */
  fetch?: typeof fetch;
}

/** One function per operation of the service, and shortcuts for an agent's most frequent work. */
export interface Client extends Api {
  /** Publishes an event. Generates a missing `id`, so that retries publish it only once. */
  publish(event: NewEvent, options?: CallOptions): Promise<PublishResult>;
  /** Publishes up to 100 events in one request. Returns the result of each; a refused one does not affect the others. */
  publishAll(events: readonly NewEvent[], options?: CallOptions): Promise<(PublishResult | RejectedEvent)[]>;
  /**
   * Creates a memory. Without them the title is the first line, the type `semantic`, and the scope the caller's own:
   * `agent` for an agent, `institutional` for a person, or that of the superseded memory.
   */
  remember(content: string, fields?: MemoryFields, options?: CallOptions): Promise<Memory>;
  /**
   * Subscribes the client's agent, as often as it is called: creates the interest, or gives the one with this event type and
   * filter the other settings that are named.
   */
  ensureInterest(interest: NewInterest, options?: CallOptions): Promise<Interest>;
  /** Receives the agent's deliveries until stopped, and acknowledges those that the handler completes. */
  listen(handler: Handler, options?: ListenOptions): Listener;
  listen<Data>(handler: Handler<EventOf<Data>>, options?: ListenOptions): Listener;
}

/** A client that knows the events of its program: `Types` maps their types to their data. */
export interface TypedClient<Types extends object> extends Omit<Client, "publish" | "publishAll" | "listen"> {
  /** Publishes an event of the map; see `Client`. */
  publish(event: NewEventOf<Types>, options?: CallOptions): Promise<PublishResult>;
  publishAll(
    events: readonly NewEventOf<Types>[],
    options?: CallOptions,
  ): Promise<(PublishResult | RejectedEvent)[]>;
  /** Receives the events of the map; see `Client`. */
  listen(handler: Handler<EventsOf<Types>>, options?: ListenOptions): Listener;
  listen<Data>(handler: Handler<EventOf<Data>>, options?: ListenOptions): Listener;
}

/** The fields of a memory besides its content, each with a default. */
export type MemoryFields = Partial<Omit<MemoriesCreateParams, "content">>;

/**
 * Creates a client of a service. Sends nothing before the first call; only listeners need to be closed.
 *
 * @throws TypeError without a key, unless `token`, `authorize` or `anonymous` is given
 */
export function createClient(options?: ClientOptions): Client;
export function createClient<Types extends object>(options?: ClientOptions): TypedClient<Types>;
export function createClient(options: ClientOptions = {}): Client {
  const settings = findAccess(options);
  const connection = openConnection(settings);
  const api = apiOn(connection);
  const whole = (event: NewEvent) => ({ specversion: "1.0", id: randomKey(), ...event }) as CloudEvent;
  // An event has one result, a list of them a list.
  const publish: Client["publish"] = async (event, callOptions) =>
    (await api.events.publish({ event: whole(event) }, callOptions)) as PublishResult;
  const publishAll: Client["publishAll"] = async (events, callOptions) => {
    const params = { event: events.map(whole) as unknown as CloudEvent };
    return (await api.events.publish(params, callOptions)) as (PublishResult | RejectedEvent)[];
  };
  const remember: Client["remember"] = async (content, fields = {}, callOptions) => {
    // Keys are agents'.
    const audience = await audienceOf(api, fields, settings.apiKey ? "agent" : undefined, callOptions);
    const params = { title: titleOf(content), type: "semantic", ...audience, ...fields, content } as const;
    return api.memories.create(params, callOptions);
  };
  return {
    ...api,
    publish,
    publishAll,
    remember,
    ensureInterest: (interest, callOptions) => ensureInterest(api, interest, callOptions),
    listen: (handler: Handler<never>, how?: ListenOptions) =>
      new Listener({ connection, api }, handler as Handler, how),
  };
}

/** Returns who can read a new memory: a successor must be as visible as the memory that it supersedes. */
async function audienceOf(
  api: Api,
  { scope, team_id, supersedes_id }: MemoryFields,
  own: "agent" | undefined,
  { signal }: CallOptions = {},
): Promise<Pick<MemoriesCreateParams, "scope" | "team_id">> {
  const options = signal ? { signal } : {};
  if (scope) return { scope };
  if (team_id) return { scope: "team" };
  if (supersedes_id) {
    const old = await api.memories.get({ id: supersedes_id }, options);
    return { scope: old.scope, team_id: old.team_id };
  }
  const kind = own ?? (await api.auth.me({}, options)).kind;
  return { scope: kind === "user" ? "institutional" : "agent" };
}

const TITLE_LENGTH = 120;

/** Returns a text's first line, cut at a word if it is long. */
export function titleOf(text: string): string {
  const [line = ""] = text.trim().split("\n", 1);
  const title = line.replace(/^#+\s*/, "").trim() || "Untitled";
  const characters = Array.from(title);
  if (characters.length <= TITLE_LENGTH) return title;
  const cut = characters.slice(0, TITLE_LENGTH - 1).join("");
  return `${cut.slice(0, cut.lastIndexOf(" ") + 1 || undefined).trimEnd()}…`;
}

const DEFAULTS = { retries: 3, timeoutMs: 60_000 };

function openConnection({
  url,
  retries,
  timeoutMs,
  fetch: own,
  onWait,
  ...proof
}: ClientOptions & { url: string }): Connection {
  return {
    origin: parseOrigin(url),
    authorization: makeAuthorization(proof),
    // Browsers refuse a `fetch` called as a method of another object.
    fetch: own ?? ((input, init) => fetch(input, init)),
    retries: retries ?? DEFAULTS.retries,
    timeoutMs: timeoutMs ?? DEFAULTS.timeoutMs,
    onWait: onWait ?? once(({ message }) => console.warn("sensorium:", escapeControls(message))),
  };
}

/** Returns a function that does its work the first time. */
export function once<T>(work: (given: T) => void): (given: T) => void {
  let isDone = false;
  return (given) => {
    if (!isDone) work(given);
    isDone = true;
  };
}

function makeAuthorization(
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
      makeCall(connection, operation),
    ]);
    return [service, Object.fromEntries(entries)];
  });
  return Object.fromEntries(groups) as Api;
}

function makeCall(connection: Connection, operation: Operation): unknown {
  if (operation.stream) return makeStream(connection, operation);
  const call = async (params: Params = {}, options?: CallOptions) =>
    bodyOfAnswer(await request(connection, operation, params, options), operation);
  const { pages } = operation;
  if (!pages) return call;
  const all = (params: Params = {}, options?: CallOptions) => allPages(pages, call, params, options);
  return Object.assign(call, { all, pages });
}

function makeStream(connection: Connection, operation: Operation) {
  return async function* (params: Params = {}, options?: CallOptions) {
    yield* messagesOf(await streamOfAnswer(await request(connection, operation, params, options)));
  };
}
