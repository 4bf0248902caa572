import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, jest, test } from "@jest/globals";
import {
  ApiError,
  byLogin,
  bySession,
  ConnectionError,
  createClient,
  isApiError,
  mcpEndpoint,
  type Wait,
} from "../../packages/client/index.ts";
import { ownFolder } from "../support/own-folder.ts";
import { serving } from "../support/serving.ts";
import { useShared } from "../support/use.ts";

const server = await useShared("local");
const apiKey = server.credentials.agent.api_key;
const client = createClient({ url: server.url, apiKey });

const MEMORY = { title: "A title", content: "Some content", type: "semantic", scope: "agent" } as const;

/** A fetch that keeps the requests it was asked for; `instead` may answer in the service's place. */
function spy(
  instead: (request: Request, count: number) => Response | undefined | Promise<Response | undefined>,
) {
  const requests: Request[] = [];
  const fetchIt: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    requests.push(request.clone());
    return (await instead(request, requests.length)) ?? fetch(request);
  };
  return { requests, fetch: fetchIt };
}

const keyOf = (request: Request) => request.headers.get("idempotency-key");

describe("operations", () => {
  test("path, query and body go where they belong, also if the address is the origin", async () => {
    const { agent } = await client.auth.me();
    const atRoot = createClient({ url: `${server.root}/`, apiKey });
    expect((await atRoot.auth.me()).agent).toEqual(agent);
    expect((await atRoot.auth.jwks()).keys).toHaveLength(1);
    const agent_id = agent?.id as string;
    await client.interests.create({ agent_id, event_type: "com.example.*" });
    const { interests } = await client.interests.list({ agent_id, limit: 1 });
    expect(interests).toMatchObject([{ event_type: "com.example.*" }]);
    const { id } = interests[0] as { id: string };
    expect(await client.interests.delete({ agent_id, id })).toBeUndefined();
    const memory = await client.memories.create({ ...MEMORY, tags: ["red", "blue"] });
    const expected = [{ id: memory.id, tags: ["red", "blue"] }];
    expect((await client.memories.list({ tags: ["blue", "green"] })).memories).toMatchObject(expected);
  });

  test("publishes an event once, with any field omitted and any number of retries", async () => {
    const event = { id: "once", type: "com.example.thing", source: "urn:test", colour: "red" };
    const { event_id, status } = await client.publish(event);
    expect(status).toBe("accepted");
    expect(await client.publish(event)).toEqual({ event_id, status: "duplicate" });
    const expected = { specversion: "1.0", colour: "red" };
    expect((await client.events.get({ event_id })).payload).toMatchObject(expected);
    expect((await client.publish({ type: "com.example.thing", source: "urn:test" })).status).toBe("accepted");
    const results = await client.publishAll([event, { ...event, id: "new" }, { ...event, type: "" }]);
    expect(results.map(({ status }) => status)).toEqual(["duplicate", "accepted", "rejected"]);
  });

  test("remembers a text, as its caller may", async () => {
    const text = "The press needs oil.\nEvery Monday.";
    const own = { title: "The press needs oil.", content: text, type: "semantic" };
    expect(await client.remember(text)).toMatchObject({ ...own, scope: "agent", subject: null });
    const person = createClient({ url: server.url, authorize: byLogin(server.credentials.admin) });
    const shared = await person.remember(text, { title: "The press", subject: "press-1" });
    expect(shared).toMatchObject({ ...own, title: "The press", scope: "institutional", subject: "press-1" });
    const next = await person.remember("It needs grease.", { supersedes_id: shared.id });
    expect(next).toMatchObject({ scope: "institutional", supersedes_id: shared.id });
    const team = await person.teams.create({ name: "Press hall" });
    expect(await person.remember(text, { team_id: team.id })).toMatchObject({ scope: "team" });
  });

  test("without an address and a key finds them, and sends a key nowhere else", async () => {
    const home = await ownFolder();
    const file = join(home, "sensorium/profiles.json");
    const lacking = (why: string, options = {}) =>
      expect(() => createClient(options)).toThrow(
        `No API key: run \`sensorium connect\`, or set SENSORIUM_API_KEY. Looked at:\n  apiKey: not given\n${why}`,
      );
    const meOf = async (options = {}) => (await createClient(options).auth.me()).agent;
    const me = await meOf({ url: server.root, apiKey });
    try {
      process.env.XDG_CONFIG_HOME = home;
      const url = "https://elsewhere.test";
      lacking(`  SENSORIUM_API_KEY: not set\n  profile default in ${file}: not there\n`, {
        url: server.root,
      });
      mkdirSync(dirname(file));
      writeFileSync(file, JSON.stringify({ mine: { url: server.url, api_key: apiKey, current: true } }));
      expect(await meOf()).toEqual(me);
      expect(await meOf({ url: server.root })).toEqual(me);
      expect(mcpEndpoint().url).toBe(`${server.root}/mcp`);
      lacking(`  SENSORIUM_API_KEY: not set\n  profile mine in ${file}: for ${server.url}\n`, { url });
      const set = { SENSORIUM_URL: server.root, SENSORIUM_API_KEY: apiKey, SENSORIUM_PROFILE: "other" };
      Object.assign(process.env, set);
      expect(await meOf()).toEqual(me);
      const found = `  SENSORIUM_API_KEY: for ${server.root}\n  profile other in ${file}: not there\n`;
      lacking(found, { url, apiKey: "" });
      for (const how of [{ token: "t" }, { anonymous: true as const }])
        await expect(createClient(how).auth.me()).rejects.toMatchObject({ status: 401 });
    } finally {
      for (const name of ["XDG_CONFIG_HOME", "SENSORIUM_URL", "SENSORIUM_API_KEY", "SENSORIUM_PROFILE"])
        delete process.env[name];
    }
  });
});

test("an interest is ensured as often as a program starts", async () => {
  const event_type = "com.example.ensured";
  const made = await client.ensureInterest({ event_type, filter_expression: "data.n > 1" });
  expect(await client.ensureInterest({ event_type, filter_expression: "data.n > 1" })).toEqual(made);
  const changed = await client.ensureInterest({ event_type, filter_expression: "data.n > 1", priority: 9 });
  expect(changed).toMatchObject({ id: made.id, priority: 9 });
  expect((await client.ensureInterest({ event_type })).id).not.toBe(made.id);
  await expect(client.ensureInterest({ event_type, priority: 99 })).rejects.toThrow(/priority/);
});

test("lists are walked to the end, by offset and by cursor, or left by leaving the loop", async () => {
  const made = [];
  for (const name of ["a", "b", "c", "d", "e"]) made.push((await client.channels.create({ name })).id);
  const names: string[] = [];
  for await (const { name } of client.channels.list.all({ limit: 2 })) names.push(name);
  expect(names).toEqual(["a", "b", "c", "d", "e"]);
  for (const channel_id of made) await client.channels.delete({ channel_id });
  const type = "com.example.walked";
  for (let n = 0; n < 5; n++) await client.publish({ type, source: "urn:test", id: `walked-${n}` });
  const ids: string[] = [];
  for await (const { payload } of client.events.list.all({ type, limit: 2 })) ids.push(payload.id);
  expect(ids).toEqual(["walked-4", "walked-3", "walked-2", "walked-1", "walked-0"]);
  const { requests, fetch } = spy(() => undefined);
  for await (const _ of client.events.list.all({ limit: 1 }, { fetch })) break;
  expect(requests).toHaveLength(1);
});

describe("errors", () => {
  test("tell code, status, details and the request", async () => {
    const id = "0199c0de-7a11-7c3e-9f00-5a1b2c3d4e5f";
    const error = await client.memories.get({ id }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      ...{ code: "not_found", status: 404, details: { resource_type: "memory", resource_id: id } },
      ...{ requestId: expect.stringMatching(/^req_/), retryAfter: null },
    });
    const answer = [isApiError(error), isApiError(error, "not_found"), isApiError(error, "conflict")];
    expect(answer).toEqual([true, true, false]);
  });

  test("reports answers that are not the service's", async () => {
    const { fetch } = spy(() => new Response("<h1>Bad Gateway</h1>", { status: 404 }));
    const refused = client.auth.me({}, { fetch });
    await expect(refused).rejects.toMatchObject({ code: "unexpected_answer", status: 404 });
    const nowhere = createClient({ url: "http://127.0.0.1:1", token: "t", retries: 0 });
    await expect(nowhere.auth.me()).rejects.toBeInstanceOf(ConnectionError);
    const asked = nowhere.auth.me();
    await expect(asked).rejects.toThrow(/GET http:\/\/127\.0\.0\.1:1\/v1\/auth\/me: fetch failed \(.+\)/);
  });

  test.each([
    ["text/html", "<h1>Sign in to the network</h1>"],
    ["application/json", '{"agent": '],
  ])("also if they look valid: %s", async (type, text) => {
    const { requests, fetch } = spy(() => new Response(text, { headers: { "content-type": type } }));
    await expect(client.auth.me({}, { fetch })).rejects.toMatchObject({
      ...{ code: "unexpected_answer", status: 200, message: expect.stringContaining(text.trim()) },
    });
    expect(requests).toHaveLength(1);
  });

  test("a redirect is an error, gets no credentials, and says to use https if that is meant", async () => {
    const reached: string[] = [];
    await using other = await serving((request, response) => {
      reached.push(`${request.method} ${request.url}`);
      response.end();
    });
    const location = `${other.url}/v1/moved?key=secret`;
    let status = 0;
    await using first = await serving((_, response) => void response.writeHead(status, { location }).end());
    const message = expect.stringMatching(/redirects to .*\/v1\/moved, and credentials are sent only to/);
    const details = { location: `${other.url}/v1/moved` };
    const client = createClient({ url: first.url, apiKey, retries: 3 });
    const login = createClient({ url: first.url, authorize: byLogin({ email: "a@b.c", password: "p" }) });
    for (status of [301, 302, 303, 307, 308])
      for (const call of [
        () => client.auth.me(),
        () => client.deliveries.stream().next(),
        () => login.auth.me(),
        () => client.listen(() => {}, { onProblem() {} }).done,
      ])
        await expect(call()).rejects.toMatchObject({ code: "unexpected_answer", status, message, details });
    expect(reached).toEqual([]);
    const moved = (location: string) => {
      const { fetch } = spy(() => new Response(null, { status: 301, headers: { location } }));
      return createClient({ url: "http://sensorium.example.com", token: "t", fetch }).auth.me();
    };
    const refused = moved("https://sensorium.example.com/v1/auth/me");
    await expect(refused).rejects.toThrow("Use the address with https: https://sensorium.example.com.");
    await expect(moved("//")).rejects.toThrow("redirects to an address that is not shown");
  });

  test("a page in the place of a stream is no stream without messages", async () => {
    const page = "<h1>Sign in to the network</h1>";
    const { fetch } = spy(() => new Response(page, { headers: { "content-type": "text/html" } }));
    const answer = { code: "unexpected_answer", status: 200, message: expect.stringContaining(page) };
    await expect(client.deliveries.stream({}, { fetch }).next()).rejects.toMatchObject(answer);
    const lost = createClient({ url: server.url, token: "t", fetch });
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const listener = lost.listen(() => {}, { onProblem: resolve });
    expect(await promise.finally(() => listener.stop())).toMatchObject(answer);
  });

  test.each(["", ".", "..", undefined])(
    "%j in a path would name something else, and is not sent",
    async (feed_id) => {
      const { requests, fetch } = spy(() => undefined);
      const fields = { channel_id: "ch_1", feed_id: feed_id as string };
      const deleting = client.channels.deleteFeed(fields, { fetch });
      await expect(deleting).rejects.toThrow(
        /^feed_id is .*: expected an id or a name, not empty, "\." or "\.\."\.$/,
      );
      expect(requests).toEqual([]);
    },
  );

  test.each([undefined, "", "localhost:3000", "ftp://sensorium.example.com"])("%s is no address", (url) =>
    expect(() => createClient({ url: url as string })).toThrow(
      `"${url}" is not a URL: expected one like https://sensorium.example.com.`,
    ),
  );

  test("distinguishes a broken stream from one that ends", async () => {
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('data: {"n": 1}\n\n')),
      pull: (controller) => controller.error(new TypeError("terminated")),
    });
    const { fetch } = spy(() => new Response(body, { headers: { "content-type": "text/event-stream" } }));
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const { data } of client.deliveries.stream({}, { fetch })) seen.push(data);
    })();
    await expect(reading).rejects.toBeInstanceOf(ConnectionError);
    expect(seen).toEqual([{ n: 1 }]);
  });

  test("an aborted call throws the reason of its signal", async () => {
    const controller = new AbortController();
    const waiting = client.deliveries.poll({ wait: 30 }, { signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
  });
});

describe("trying again", () => {
  const lose = () => {
    throw new TypeError("the connection broke");
  };
  const cut = ({ status, headers }: Response) => {
    const pull = (controller: ReadableStreamDefaultController) =>
      controller.error(new TypeError("terminated"));
    return new Response(new ReadableStream({ pull }), { status, headers });
  };
  test.each([
    ["lost", lose],
    ["cut off", cut],
  ])("a create whose answer is %s is made once, by one key", async (how, spoil) => {
    const title = `Made once, although ${how}`;
    const { requests, fetch: spoiling } = spy(async (request, count) =>
      count > 1 ? undefined : spoil(await fetch(request)),
    );
    const made = await client.memories.create({ ...MEMORY, title }, { fetch: spoiling });
    expect(made.title).toBe(title);
    expect(requests.map(keyOf)).toEqual([expect.any(String), keyOf(requests[0] as Request)]);
    const { memories } = await client.memories.list({ search: title });
    expect(memories.map(({ id }) => id)).toEqual([made.id]);
  });

  test("an answer that does not end is waited for no longer than a whole one", async () => {
    const { requests, fetch } = spy(({ signal }) => {
      const open = new ReadableStream({
        start: (controller) => signal.addEventListener("abort", () => controller.error(signal.reason)),
      });
      return new Response(open, { headers: { "content-type": "application/json" } });
    });
    const call = client.auth.me({}, { fetch, retries: 1, timeoutMs: 50 });
    await expect(call).rejects.toBeInstanceOf(ConnectionError);
    expect(requests).toHaveLength(2);
  });

  test("waits as Retry-After says, and gives up after as many tries as asked for", async () => {
    const busy = () => new Response("{}", { status: 503, headers: { "Retry-After": "0" } });
    const { requests, fetch } = spy(busy);
    await expect(client.auth.me({}, { fetch, retries: 2 })).rejects.toMatchObject({ status: 503 });
    expect(requests).toHaveLength(3);
  });

  test("says once what it waits for, or each time to who asks", async () => {
    const { fetch } = spy((_, count) => {
      if (count % 2 === 0) return undefined;
      const error = { code: "rate_limited", message: "More than 9 requests in 60 s.", details: {} };
      return Response.json({ error }, { status: 429, headers: { "Retry-After": "0.01" } });
    });
    const message = "Waiting 1 s to repeat GET /auth/me: More than 9 requests in 60 s.";
    const warn = jest.spyOn(console, "warn").mockImplementation(() => {});
    const quiet = createClient({ url: server.url, token: apiKey, fetch });
    for (let i = 0; i < 2; i++) await quiet.auth.me();
    expect(warn.mock.calls).toEqual([["sensorium:", message]]);
    const waits: Wait[] = [];
    const heard = createClient({ url: server.url, token: apiKey, fetch, onWait: (wait) => waits.push(wait) });
    for (let i = 0; i < 2; i++) await heard.auth.me();
    expect(waits).toMatchObject(Array(2).fill({ message, seconds: 1, error: { code: "rate_limited" } }));
    expect(warn).toHaveBeenCalledTimes(1);
    warn.mockRestore();
  });

  test.each([
    ...[400, 403, 404, 408, 409, 410, 412, 422, 501].map((status) => [status, 1]),
    ...[429, 500, 502, 503, 504].map((status) => [status, 2]),
  ])("an answer %d gets %d request(s) where one retry is allowed", async (status, tries) => {
    const { requests, fetch } = spy(() => new Response("{}", { status, headers: { "Retry-After": "0" } }));
    const create = client.channels.create({ name: "x" }, { fetch, retries: 1 });
    await expect(create).rejects.toMatchObject({ status });
    expect(requests).toHaveLength(tries);
  });

  test("does not retry a login that the server may have processed; idempotent requests carry no key", async () => {
    const lost = spy(lose);
    const login = client.auth.login({ email: "a@example.com", password: "p" }, { fetch: lost.fetch });
    await expect(login).rejects.toBeInstanceOf(ConnectionError);
    expect(lost.requests).toHaveLength(1);
    const { requests, fetch } = spy(() => undefined);
    await client.memories.search({ query: "content" }, { fetch });
    await client.deliveries.ack({ delivery_ids: [] }, { fetch });
    expect(requests.map(keyOf)).toEqual([null, null]);
  });
});

describe("who calls", () => {
  test("a key is exchanged once for many requests, and again when its token is refused", async () => {
    let refused = false;
    const isExchange = ({ url }: Request) => url.endsWith("/auth/token");
    const { requests, fetch } = spy((request) => {
      if (isExchange(request) || refused || requests.length < 5) return undefined;
      refused = true;
      const fields = { error: { code: "authentication_failed", message: "It ended." } };
      return Response.json(fields, { status: 401 });
    });
    const own = createClient({ url: server.url, apiKey, fetch });
    await Promise.all([own.auth.me(), own.auth.me(), own.auth.me()]);
    expect(requests.filter(isExchange)).toHaveLength(1);
    expect(await own.auth.me()).toMatchObject({ kind: "agent" });
    expect(refused).toBe(true);
    expect(requests.filter(isExchange)).toHaveLength(2);
  });

  test("a token is renewed before it ends, by the service's clock", async () => {
    let exchanges = 0;
    const ended = (request: Request) => {
      if (!request.url.endsWith("/auth/token")) return Response.json({ kind: "agent" });
      const body = { access_token: `token-${++exchanges}`, expires_at: "2020-01-01T00:00:00.000Z" };
      // The service thinks it is an hour before that, then that it is past it.
      const date = exchanges === 1 ? "Tue, 31 Dec 2019 23:00:00 GMT" : "Wed, 01 Jan 2020 00:00:01 GMT";
      return Response.json(body, { headers: { date } });
    };
    const { requests, fetch } = spy(ended);
    const own = createClient({ url: server.url, apiKey, fetch });
    await own.auth.me();
    await own.auth.me();
    expect([exchanges, requests.at(-1)?.headers.get("authorization")]).toEqual([1, "Bearer token-1"]);
  });

  test("a person signs in by password; a wrong key is reported after one attempt, and two ways are one too many", async () => {
    const person = createClient({ url: server.url, authorize: byLogin(server.credentials.admin) });
    expect(await person.auth.me()).toMatchObject({ kind: "user", user: { role: "admin" } });
    const { requests, fetch } = spy(() => undefined);
    const own = createClient({ url: server.url, apiKey: `ak_live_${"0".repeat(32)}`, fetch });
    await expect(own.auth.me()).rejects.toMatchObject({ code: "authentication_failed" });
    expect(requests).toHaveLength(1);
    expect(() => createClient({ url: server.url, apiKey, token: "t" })).toThrow(TypeError);
  });

  test("a browser's session sends its CSRF token with what changes something", async () => {
    const { requests, fetch } = spy(() => Response.json({}));
    const authorize = bySession({ csrfToken: () => "csrf" });
    const browser = createClient({ url: server.url, authorize, fetch });
    await browser.auth.me();
    await browser.auth.logout();
    expect(requests.map(({ headers }) => headers.get("x-csrf-token"))).toEqual([null, "csrf"]);
    expect(requests.map(({ credentials }) => credentials)).toEqual(["same-origin", "same-origin"]);
  });
});
