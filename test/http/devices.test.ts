import { describe, expect, test } from "@jest/globals";
import { agentToken, api } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { connectDevice, makeWorld, ok, refusal, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const CODE = /^[BCDFGHJKMNPQRSTVWXYZ2-9]{4}-[BCDFGHJKMNPQRSTVWXYZ2-9]{4}$/;
const CLIENT = { name: "editor", version: "2.1", host: "laptop" };
const UNKNOWN_CODE = "BBBB-BBBB";

const server = await useShared();
const world = await makeWorld(server, "devices");
const device = api(server);

const newAgent = async () =>
  ok(await world.admin.post("/agents", { name: "a", delivery_mode: "poll" })).id as string;
const issue = async (agent: string, body = {}, by = world.admin) =>
  ok(await by.post(`/agents/${agent}/device-code`, body));
const claim = (user_code: string) => device.post("/device-codes:claim", { user_code, client_info: CLIENT });
const confirm = (agent: string, claim_id: string, action: string, by = world.admin) =>
  by.post(`/agents/${agent}/device-code:confirm`, { claim_id, action });
const complete = (claim_id: string) => device.post("/device-codes:complete", { claim_id });
const statusOf = async (agent: string, by = world.admin) =>
  (await by.get(`/agents/${agent}/device-code`)).body;

const memberId = async () => ok(await world.member.get("/auth/me")).user.id as string;

/** An agent with a claim that a person has not decided on. */
async function claimed(scopes?: string[]): Promise<{ agent: string; claim_id: string; user_code: string }> {
  const agent = await newAgent();
  const { user_code } = await issue(agent, scopes ? { scopes } : {});
  return { agent, user_code, claim_id: ok(await claim(user_code)).claim_id };
}

test("a device is connected from the code to its first request", async () => {
  const agent = await newAgent();
  const issued = await world.admin.post(`/agents/${agent}/device-code`, {});
  expect(issued.status).toBe(201);
  const { user_code, expires_at, server_now, verification_uri, verification_uri_complete } = issued.body;
  expect(user_code).toMatch(CODE);
  expect(Date.parse(expires_at) - Date.parse(server_now)).toBe(10 * 60_000);
  expect(verification_uri).toBe(`${server.root}/connect`);
  expect(verification_uri_complete).toBe(`${verification_uri}?code=${user_code}`);
  const scopes = ["send", "receive", "memory:read", "memory:write", "channel:read", "channel:write"];
  expect(await statusOf(agent)).toMatchObject({ state: "waiting", user_code, expires_at, scopes });
  const answer = await device.get(`/device-codes/${user_code}`);
  expect(answer).toMatchObject({ status: 200, body: { agent_id: agent } });

  const claimAnswer = await claim(` ${user_code.toLowerCase().replace("-", "")}`);
  expect(claimAnswer.status).toBe(200);
  const { claim_id } = claimAnswer.body;
  await refused(complete(claim_id), "conflict");
  expect(await statusOf(agent)).toMatchObject({
    ...{ state: "verifying", claim_id, claimed_at: expect.any(String), scopes },
    client_info: { ...CLIENT, signature: null },
  });

  const confirmed = await confirm(agent, claim_id, "approve");
  const expected = { status: 200, body: { state: "approved", confirmed_at: expect.any(String) } };
  expect(confirmed).toMatchObject(expected);
  const completed = await complete(claim_id);
  expect(completed.status).toBe(200);
  const { api_key, access_token, session_id } = completed.body;
  const wanted = { agent_id: agent, expires_at: expect.any(String), server_now: expect.any(String) };
  expect(completed.body).toMatchObject(wanted);
  expect(api_key).toMatch(/^ak_live_[A-Za-z0-9]{32}$/);

  const connected = await statusOf(agent);
  expect(connected).toMatchObject({ state: "connected", session_id, scopes });
  expect(JSON.stringify(connected)).not.toContain(api_key);
  const me = ok(await api(server, access_token).get("/auth/me"));
  const found = me.scopes.sort();
  expect(found).toEqual(["channel:read", "channel:write", "memory:read", "memory:write", "receive", "send"]);
  const given = await api(server, await agentToken(server, api_key)).get("/delivery/poll");
  expect(given).toMatchObject({ status: 200 });
  await refused(complete(claim_id), "not_found");
  await refused(claim(user_code), "not_found");
});

test("all failed claims get the same answer, and a code that nobody can have is not a malformed one", async () => {
  for (const typed of ["O0I1-LBCD", "o0i1lbcd", "BCDF-234O"]) await refused(claim(typed), "not_found");
  const used = (await claimed()).user_code;
  const denied = await claimed();
  ok(await confirm(denied.agent, denied.claim_id, "reject"));
  const agent = await newAgent();
  const superseded = (await issue(agent)).user_code;
  const newer = (await issue(agent)).user_code;
  expect(await statusOf(agent)).toMatchObject({ state: "waiting", user_code: newer });
  await refused(device.get(`/device-codes/${superseded}`), "not_found");
  const answers = await Promise.all(
    [used, denied.user_code, superseded, UNKNOWN_CODE].map(async (code) => {
      const { status, body } = await claim(code);
      const message = body.error.message.replace(code, "");
      return { status, error: { ...body.error, request_id: "", message } };
    }),
  );
  for (const { status, error } of answers) {
    expect(status).toBe(404);
    expect({ ...error, details: error.details.resource_type }).toEqual({
      ...{ code: "not_found", request_id: "", message: answers[3]?.error.message },
      details: "device_code",
    });
  }
  expect(await claim(newer)).toMatchObject({ status: 200 });
});

test("a device says of itself only what is known", async () => {
  const agent = await newAgent();
  const { user_code } = await issue(agent);
  const client_info = { ...CLIENT, signature: "by me" };
  const more = { user_code, client_info: { ...client_info, more: "x".repeat(1000) } };
  await refused(device.post("/device-codes:claim", more), "validation_failed", "client_info.more");
  ok(await device.post("/device-codes:claim", { user_code, client_info }));
  expect((await statusOf(agent)).client_info).toEqual(client_info);
});

test("a denied device gets nothing", async () => {
  const { agent, claim_id, user_code } = await claimed();
  expect(await confirm(agent, claim_id, "reject")).toMatchObject({ status: 200, body: { state: "denied" } });
  await refused(complete(claim_id), "not_found");
  await refused(confirm(agent, claim_id, "approve"), "conflict");
  expect(await statusOf(agent)).toMatchObject({ state: "denied" });
  const [noted] = ok(
    await world.admin.get(`/audit?action=devices.confirm&resource_id=${agent}&outcome=done`),
  ).entries;
  expect(noted).toMatchObject({ actor_kind: "user", details: { agent_id: agent, decision: "reject" } });
  await refused(device.get(`/device-codes/${user_code}`), "not_found");
  expect(ok(await world.admin.get(`/agents/${agent}/sessions`)).sessions).toEqual([]);
});

describe("permissions", () => {
  test("the agent issues its own code, and sees no claim", async () => {
    const key = ok(await world.admin.post(`/agents/${world.agentId}/keys`, { scopes: ["send"] })).key;
    const self = api(server, await agentToken(server, key));
    const { user_code } = await issue(world.agentId, {}, self);
    ok(await claim(user_code));
    const status = await statusOf(world.agentId, self);
    expect(status.state).toBe("verifying");
    expect(status.claim_id).toBeUndefined();
    const other = await newAgent();
    for (const answer of [
      await self.post(`/agents/${other}/device-code`, {}),
      await self.get(`/agents/${other}/device-code`),
      await self.get(`/agents/${other}/sessions`),
      await world.member.post(`/agents/${other}/device-code`, {}),
    ])
      expect(answer).toMatchObject(refusal(403, "insufficient_scope", { required_scope: "admin" }));
    expect(await self.get(`/agents/${other}/device-code`)).toMatchObject({ status: 403 });
  });

  test("a code with the scope admin is approved by an org admin alone", async () => {
    const { agent, claim_id } = await claimed(["admin"]);
    ok(await world.admin.patch(`/agents/${agent}`, { owner_user_id: await memberId() }));
    await refused(confirm(agent, claim_id, "approve", world.member), "forbidden");
    ok(await confirm(agent, claim_id, "approve"));
    const { access_token } = ok(await complete(claim_id));
    expect(ok(await api(server, access_token).get("/auth/me")).scopes).toEqual(["admin"]);
  });

  test("a member learns nothing of another's agent, and approves nothing of it; nor do other organisations", async () => {
    const agent = await newAgent();
    const { user_code } = await issue(agent);
    const other = await makeWorld(server, "devices-elsewhere");
    await refused(other.admin.get(`/device-codes/${user_code}`), "not_found");
    const hidden = refusal(403, "insufficient_scope", { required_scope: "admin" });
    expect(await world.member.get(`/agents/${agent}/device-code`)).toMatchObject(hidden);
    const unknown = await world.member.get(`/device-codes/${UNKNOWN_CODE}`);
    const known = await world.member.get(`/device-codes/${user_code}`);
    expect(known.status).toBe(404);
    const told = ({ body: { error } }: typeof known, code: string) =>
      JSON.stringify({ ...error, request_id: "" }).replaceAll(code, "");
    expect(told(known, user_code)).toBe(told(unknown, UNKNOWN_CODE));
    const { claim_id } = ok(await claim(user_code));
    for (const action of ["approve", "reject"])
      expect(await confirm(agent, claim_id, action, world.member)).toMatchObject(hidden);
    await refused(complete(claim_id), "conflict");
    expect(await statusOf(agent)).toMatchObject({ state: "verifying" });
  });

  test("an agent's owner issues, sees and approves, without any other agent", async () => {
    const agent = await newAgent();
    ok(await world.admin.patch(`/agents/${agent}`, { owner_user_id: await memberId() }));
    const { user_code } = await issue(agent, { scopes: ["send"] }, world.member);
    const { claim_id } = ok(await claim(user_code));
    const answer = ok(await world.member.get(`/device-codes/${user_code}`));
    expect(answer).toEqual({ agent_id: agent, scopes: ["send"] });
    expect(await statusOf(agent, world.member)).toMatchObject({ state: "verifying", claim_id });
    ok(await confirm(agent, claim_id, "approve", world.member));
    const { access_token } = ok(await complete(claim_id));
    expect(ok(await api(server, access_token).get("/auth/me")).scopes).toEqual(["send"]);
  });

  test("a code carries no more scopes than its issuer", async () => {
    const { key } = ok(
      await world.admin.post(`/agents/${world.agentId}/keys`, { scopes: ["send", "receive"] }),
    );
    const self = api(server, await agentToken(server, key));
    const wide = await self.post(`/agents/${world.agentId}/device-code`, { scopes: ["send", "memory:read"] });
    expect(wide).toMatchObject(refusal(403, "insufficient_scope", { required_scope: "memory:read" }));
    await issue(world.agentId, {}, self);
    expect(await statusOf(world.agentId, self)).toMatchObject({ scopes: ["send", "receive"] });
    const owned = await newAgent();
    ok(await world.admin.patch(`/agents/${owned}`, { owner_user_id: await memberId() }));
    const risen = await world.member.post(`/agents/${owned}/device-code`, { scopes: ["admin"] });
    expect(risen).toMatchObject(refusal(403, "insufficient_scope", { required_scope: "admin" }));
  });

  test("a claim is confirmed under its own agent, and one without a code has no status", async () => {
    const { claim_id } = await claimed();
    const other = await newAgent();
    await refused(confirm(other, claim_id, "approve"), "not_found");
    await refused(world.admin.get(`/agents/${other}/device-code`), "not_found");
  });
});

describe("at once", () => {
  test("one of many concurrent claims of a code succeeds", async () => {
    const { user_code } = await issue(await newAgent());
    const answers = await Promise.all(Array.from({ length: 8 }, () => claim(user_code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(404)]);
  });

  test("one of an approval and a rejection succeeds, and one of many completions", async () => {
    const { agent, claim_id } = await claimed();
    const decisions = await Promise.all(
      ["approve", "reject", "approve", "reject"].map((action) => confirm(agent, claim_id, action)),
    );
    expect(decisions.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(decisions.filter(({ status }) => status === 409)).toHaveLength(3);

    const other = await claimed();
    ok(await confirm(other.agent, other.claim_id, "approve"));
    const completions = await Promise.all(Array.from({ length: 6 }, () => complete(other.claim_id)));
    expect(completions.map(({ status }) => status).sort()).toEqual([200, ...Array(5).fill(404)]);
    expect(ok(await world.admin.get(`/agents/${other.agent}/keys`)).total).toBe(1);
  });
});

describe("sessions", () => {
  test("are listed, beat once a minute and end with their key", async () => {
    const agent = await newAgent();
    const { session_id, access_token, api_key } = await connectDevice(world.admin, agent);
    const list = ok(await world.admin.get(`/agents/${agent}/sessions`)).sessions;
    expect(list).toEqual([
      {
        ...{ session_id, state: "active", client_name: "test-client", client_version: "1.0" },
        ...{ connected_at: expect.any(String), last_activity_at: expect.any(String) },
        approved_by: { id: expect.stringMatching(/^usr_/), name: "admin" },
        scopes: ["send", "receive", "memory:read", "memory:write", "channel:read", "channel:write"],
      },
    ]);

    const self = api(server, access_token);
    const beat = ok(await self.post(`/sessions/${session_id}/heartbeat`));
    expect(Date.parse(beat.next_allowed_at) - Date.parse(beat.server_now)).toBe(60_000);
    const soon = await self.post(`/sessions/${session_id}/heartbeat`);
    await refused(soon, "rate_limited", { limit: 1, window_seconds: 60 });
    expect(Number(soon.headers.get("retry-after"))).toBe(soon.body.error.details.retry_after_seconds);
    // Another key of the same agent is another device.
    const { key } = ok(await world.admin.post(`/agents/${agent}/keys`, { scopes: ["admin"] }));
    const sibling = api(server, await agentToken(server, key));
    await refused(sibling.post(`/sessions/${session_id}/heartbeat`), "forbidden");
    const plain = ok(await world.admin.post(`/agents/${await newAgent()}/keys`, { scopes: ["receive"] })).key;
    const stranger = api(server, await agentToken(server, plain));
    await refused(stranger.post(`/sessions/${session_id}/heartbeat`), "not_found");

    expect(await sibling.del(`/agents/${agent}/sessions/${session_id}`)).toMatchObject({ status: 204 });
    await settle(async () => (await self.get("/auth/me")).status === 401);
    expect(await device.post("/auth/token", { api_key })).toMatchObject({ status: 401 });
    expect(ok(await world.admin.get(`/agents/${agent}/sessions`)).sessions).toEqual([]);
  });

  test("a session deleted before its device fetched the key gives no key", async () => {
    const { agent, claim_id, user_code } = await claimed();
    ok(await confirm(agent, claim_id, "approve"));
    const { sessions } = ok(await world.admin.get(`/agents/${agent}/sessions`));
    const { status } = await world.admin.del(`/agents/${agent}/sessions/${sessions[0].session_id}`);
    expect(status).toBe(204);
    await refused(complete(claim_id), "not_found");
    expect(ok(await world.admin.get(`/agents/${agent}/sessions`)).sessions).toEqual([]);
    expect(ok(await world.admin.get(`/agents/${agent}/keys`)).keys).toEqual([]);
    expect(await statusOf(agent)).toMatchObject({ state: "denied", user_code });
  });

  test("the most recent comes first, and no more than asked for", async () => {
    const agent = await newAgent();
    const first = await connectDevice(world.admin, agent);
    const second = await connectDevice(world.admin, agent);
    const list = ok(await world.admin.get(`/agents/${agent}/sessions?limit=1`)).sessions;
    expect(list.map((each: { session_id: string }) => each.session_id)).toEqual([second.session_id]);
    expect(first.session_id).not.toBe(second.session_id);
    await refused(world.admin.get(`/agents/${agent}/sessions?limit=101`), "validation_failed");
  });
});

test.each([
  ["user_code", { user_code: "OOOO-111", client_info: CLIENT }],
  ["client_info", { user_code: UNKNOWN_CODE }],
  ["client_info.host", { user_code: UNKNOWN_CODE, client_info: { ...CLIENT, host: 5 } }],
])("a claim with a bad %s is refused", async (field, body) => {
  await refused(device.post("/device-codes:claim", body), "validation_failed", { field });
});
