import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { api } from "../support/http.ts";
import { startServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { startShared } from "../support/shared.ts";
import { makeWorld, ok, refusal, signIn } from "../support/tenancy.ts";
import {
  deliver,
  order,
  type Registration,
  register,
  SHOP,
  send,
  serviceHeaders,
  standardHeaders,
} from "../support/webhooks.ts";

const server = await startShared();
const world = await makeWorld(server, "acme");
afterAll(() => server.stop());

interface Logged {
  request_id: string;
  outcome: string;
  reason: string | null;
  event_id: string | null;
  [field: string]: unknown;
}

const requestsOf = async ({ id }: Registration): Promise<Logged[]> =>
  ok(await world.admin.get(`/ingest/webhooks/${id}/requests`)).requests;

/** Waits for the log to have so many requests; gives them, oldest first. */
async function logged(hook: Registration, count: number): Promise<Logged[]> {
  let found: Logged[] = [];
  await settle(async () => {
    found = await requestsOf(hook);
    return found.length >= count;
  });
  expect(found).toHaveLength(count);
  return found.toReversed();
}

test("the log says what was done with each request, and why one was refused", async () => {
  const hook = await register(world.admin, { ...SHOP, source: "logged" });
  const body = order({ n: 1 });
  const answer = await send(hook, body, { "X-Secret-Note": "nobody should see this" });
  await send(hook, body);
  await send(hook, '{"n": 2}');
  await deliver(hook.url, body, serviceHeaders("whsec_wrong", body));
  await deliver(hook.url, body, standardHeaders(hook.signing_secret, body, new Date(Date.now() - 400_000)));
  await deliver(hook.url, "attack", {});

  const requests = await logged(hook, 6);
  const size = body.length;
  const refused = { outcome: "refused", event_id: null, dead_letter_id: null, signature: null };
  expect(requests).toMatchObject([
    {
      outcome: "accepted",
      reason: null,
      event_id: answer.body.event_id,
      events: 1,
      size,
      signature: "service",
    },
    { outcome: "duplicate", reason: null, event_id: answer.body.event_id, size },
    {
      ...{
        outcome: "dead_lettered",
        reason: expect.stringMatching(/^mapping error: action: \/what is missing/),
      },
      ...{ event_id: null, dead_letter_id: expect.stringMatching(/^dlv_/) },
    },
    { ...refused, reason: "signature does not match", size },
    { ...refused, reason: "timestamp too old: more than 5 minutes", size },
    { ...refused, reason: "no signature", size: 6 },
  ]);
  expect(requests[0]?.request_id).toBe(answer.headers.get("x-request-id"));
  const { webhooks } = ok(await world.admin.get("/ingest/webhooks"));
  expect(webhooks.find(({ id }: Registration) => id === hook.id).last_request).toEqual(requests.at(-1));
  const text = JSON.stringify(requests);
  for (const secret of ["attack", "nobody should see", "whsec_", "paid"]) expect(text).not.toContain(secret);
});

test("the log says which previous secret signed, and when it ended", async () => {
  const NODE_OPTIONS = `--import ${join(import.meta.dirname, "../support/skewed-clock.mjs")}`;
  await using later = await startServer({
    env: { NODE_OPTIONS, EMBEDDER: "none", CLOCK_STEP_MS: String(25 * 60 * 60 * 1000) },
  });
  const { admin, tenant_slug } = later.credentials;
  const signedIn = async () => api(later, await signIn(later, admin, tenant_slug));
  const before = await signedIn();
  const hook = await register(before, SHOP);
  const { previous_ends_at } = ok(await before.post(`/ingest/webhooks/${hook.id}:rotate`, {}));
  process.kill(later.pid(), "SIGUSR2");
  await settle(() => later.logs().includes("the clock is set"));
  const after = await signedIn();
  let reason: string | undefined;
  await settle(async () => {
    expect((await send(hook, order())).status).toBe(401);
    const { requests } = ok(await after.get(`/ingest/webhooks/${hook.id}/requests`));
    reason = requests[0]?.reason;
    return reason !== undefined;
  });
  expect(reason).toBe(`signed with the previous secret, which ended at ${previous_ends_at}`);
});

test("the log keeps the last 50, however many are refused, and ends with its webhook", async () => {
  const hook = await register(world.admin, { ...SHOP, source: "attacked" });
  for (let n = 0; n < 120; n++) await deliver(hook.url, `${n}`, {});
  await send(hook, order({ n: "last" }));
  await settle(async () => (await requestsOf(hook))[0]?.outcome === "accepted");
  const requests = await requestsOf(hook);
  expect(requests).toHaveLength(50);
  expect(new Set(requests.slice(1).map(({ outcome }) => outcome))).toEqual(new Set(["refused"]));
  expect((await world.admin.del(`/ingest/webhooks/${hook.id}`)).status).toBe(204);
  expect(await world.admin.get(`/ingest/webhooks/${hook.id}/requests`)).toMatchObject(
    refusal(404, "not_found"),
  );
});

test("a refused request to the address without a source is logged at webhooks with that address only", async () => {
  const other = await makeWorld(server, "globex");
  const named = await register(other.admin, { ...SHOP, source: "named" });
  const any = await register(other.admin, { ...SHOP, source: "/shop" });
  expect(any.url).toBe(`${server.root}/w/${other.slug}`);
  await deliver(any.url, "{}", {});
  const of = async ({ id }: Registration) =>
    ok(await other.admin.get(`/ingest/webhooks/${id}/requests`)).requests;
  await settle(async () => (await of(any)).length === 1);
  expect(await of(named)).toEqual([]);
});

test("a mapping is tried before a webhook exists, with the error that saving it would give", async () => {
  const before = ok(await world.admin.get("/events?limit=1")).events[0]?.event_id;
  const path = "/ingest/webhooks:test";
  const { event } = ok(
    await world.admin.post(path, {
      ...{ source: "slack", mapping: "slack" },
      ...{ payload: "command=%2Fdeploy&text=now&channel_id=C1" },
      headers: { "content-type": "application/x-www-form-urlencoded" },
    }),
  );
  expect(event).toMatchObject({
    ...{ type: "com.slack.command.deploy", subject: "C1", source: `/w/${world.slug}/slack` },
    data: { command: "/deploy", text: "now", channel_id: "C1" },
  });
  const own = { source: "shop", mapping: { entity: "order", action: "/what" } };
  expect(ok(await world.admin.post(path, { ...own, payload: { what: 1 } })).event.type).toBe(
    "com.shop.order.1",
  );
  expect(ok(await world.admin.post(path, { ...own, payload: {} }))).toEqual({
    event: null,
    error: "mapping error: action: /what is missing: expected a string or a number",
  });
  const wrong = { ...own, mapping: { entity: "/a~7", action: "x" }, payload: {} };
  expect(await world.admin.post(path, wrong)).toMatchObject(
    refusal(400, "validation_error", { field: "mapping.entity" }),
  );
  expect(await world.admin.post(path, own)).toMatchObject(
    refusal(400, "validation_error", { field: "payload" }),
  );
  expect(ok(await world.admin.get("/events?limit=1")).events[0]?.event_id).toBe(before);
});

test("another mapping is tried on a request that came", async () => {
  const hook = await register(world.admin, { ...SHOP, source: "tried" });
  const secret = { "X-Auth": "hunter2-hunter2" };
  await send(hook, order({ n: "accepted", who: "u-1" }), { "X-Kind": "invoice", ...secret });
  await send(hook, JSON.stringify({ n: "no action", who: "u-2" }), { "X-Kind": "refund", ...secret });
  await deliver(hook.url, "{}", {});
  const [accepted, dead, refused] = (await logged(hook, 3)).map(({ request_id }) => request_id);
  const path = `/ingest/webhooks/${hook.id}:test`;
  const mapping = { entity: "header:X-Kind", action: "seen", subject: "/who" };
  const attempt = async (request_id = "") => ok(await world.admin.post(path, { request_id, mapping })).event;
  expect(await attempt(accepted)).toMatchObject({ type: "com.tried.invoice.seen", subject: "u-1" });
  expect(await attempt(dead)).toMatchObject({ type: "com.tried.refund.seen", subject: "u-2" });
  // Its value may be a credential, so that it was not kept.
  for (const request_id of [accepted, dead]) {
    const auth = { entity: "header:X-Auth", action: "seen" };
    expect(ok(await world.admin.post(path, { request_id, mapping: auth }))).toEqual({
      event: null,
      error:
        "mapping error: entity: header:X-Auth was not kept, as it may be a credential: send the request again",
    });
  }
  // With the saved mapping it is still the same error.
  expect(ok(await world.admin.post(path, { request_id: dead })).error).toMatch(/^mapping error: action/);
  expect(await world.admin.post(path, { request_id: refused })).toMatchObject(
    refusal(400, "validation_error", { field: "request_id" }),
  );
  expect(await world.admin.post(path, { request_id: "req_unknown" })).toMatchObject(
    refusal(404, "not_found"),
  );
});
