import { describe, expect, test } from "@jest/globals";
import { type Api, api } from "../support/http.ts";
import { approve, attempt, connect, exchange, refresh, registered } from "../support/oauth.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, OPERATOR_TOKEN, ok, refused, signIn } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

// Nothing outlives its reason: connections end with the rights of the person who approved them, and with the agent.

let people = 0;

const server = await useShared();
const world = await makeWorld(server, "approvals");
const client = await registered(server);

type Person = Api & { id: string };

async function newPerson(role: "admin" | "member"): Promise<Person> {
  const email = `p${++people}@approvals.example`;
  const user = ok(await world.admin.post("/users", { email, role }));
  return { ...api(server, await signIn(server, user, world.slug)), id: user.id };
}

const newAgent = async (owner_user_id: string | null) =>
  ok(await world.admin.post("/agents", { name: "a", delivery_mode: "poll", owner_user_id })).id as string;
const update = async (id: string, change: object) => ok(await world.admin.patch(`/users/${id}`, change));
const sessionsOf = async (agent: string) => ok(await world.admin.get(`/agents/${agent}/sessions`)).sessions;

const issue = async (person: Api, agent: string, scopes: string[]) =>
  ok(await person.post(`/agents/${agent}/device-code`, { scopes })).user_code as string;
const claim = (user_code: string) =>
  api(server).post("/device-codes:claim", {
    user_code,
    client_info: { name: "laptop", version: "1", host: "h" },
  });
const confirm = (person: Api, agent: string, claim_id: string) =>
  person.post(`/agents/${agent}/device-code:confirm`, { claim_id, action: "approve" });

/** Claims and approves a device of an agent. */
async function approved(person: Api, agent: string, scopes: string[]): Promise<string> {
  const { claim_id } = ok(await claim(await issue(person, agent, scopes)));
  ok(await confirm(person, agent, claim_id));
  return claim_id;
}

/** Questions that wait for an approval of `by`. */
async function waitingFor(person: Api, agent: string) {
  const { claim_id } = ok(await claim(await issue(person, agent, ["send"])));
  const code = await issue(person, agent, ["send"]);
  return (by: Api): Record<string, () => Promise<boolean>> => ({
    "claimed code": async () => (await confirm(by, agent, claim_id)).status === 200,
    "issued code": async () => (await claim(code)).status === 200,
  });
}

const complete = (claim_id: string) => api(server).post("/device-codes:complete", { claim_id });
const works = async (token: string) => (await api(server, token).get("/auth/me")).status === 200;

/** Everything that a person can approve for an agent, each as a check of whether it still works. */
async function approveAll(person: Api, agent: string, scopes: string[]) {
  const scope = scopes.join(" ");
  const asked = { scope, resource: server.root };
  const granted = await connect(client, person, agent, asked);
  const { api_key, access_token } = ok(await complete(await approved(person, agent, scopes)));
  const claim_id = await approved(person, agent, scopes);
  const pending = await attempt(client, asked);
  const answer = await approve(person, pending.query, agent);
  let refresh_token = granted.refresh_token as string;
  const refreshed = async () => {
    refresh_token = (await refresh(client, refresh_token)).refresh_token as string;
    return true;
  };
  const lasting: Record<string, () => Promise<boolean>> = {
    "client's token": () => works(granted.access_token),
    "client's refresh token": refreshed,
    "device's key": () => works(api_key),
    "device's token": () => works(access_token),
    "exchange of the device's key": async () =>
      (await api(server).post("/auth/token", { api_key })).status === 200,
  };
  const unused: Record<string, () => Promise<boolean>> = {
    "approved device": async () => (await complete(claim_id)).status === 200,
    "approved client's code": async () => Boolean((await exchange(client, answer, pending)).access_token),
  };
  return { lasting, unused };
}

/** The names of what works. */
async function working(checks: Record<string, () => Promise<boolean>>): Promise<string[]> {
  const names: string[] = [];
  for (const [name, check] of Object.entries(checks)) if (await check().catch(() => false)) names.push(name);
  return names;
}

type Ending = [
  name: string,
  role: "admin" | "member",
  owns: boolean,
  scopes: string[],
  end: (person: Person, agent: string) => Promise<unknown>,
  restore?: (person: Person, agent: string) => Promise<unknown>,
];

const person =
  (change: object): Ending[4] =>
  ({ id }) =>
    update(id, change);
const agent =
  (changeFor: (id: string) => object, what = ""): Ending[4] =>
  async ({ id }, of) =>
    ok(await world.admin.patch(`/agents/${of}${what}`, changeFor(id)));
const [disable, enable] = [person({ status: "disabled" }), person({ status: "active" })];
const [demote, promote] = [person({ role: "member" }), person({ role: "admin" })];
const [disown, own] = [agent(() => ({ owner_user_id: null })), agent((owner_user_id) => ({ owner_user_id }))];
const stop = agent(() => ({ status: "inactive" }), "/status");
const start = agent(() => ({ status: "active" }), "/status");

const ENDINGS: Ending[] = [
  ["is disabled", "admin", false, ["memory:read", "admin"], disable, enable],
  ["owns the agent and is disabled", "member", true, ["send"], disable, enable],
  ["is no admin any more, for scopes that need it", "admin", true, ["admin"], demote, promote],
  ["is no admin any more, for an agent of others", "admin", false, ["send"], demote, promote],
  ["loses the agent", "member", true, ["send"], disown, own],
  ["approved it for an agent that is deactivated", "admin", true, ["send"], stop, start],
];

test.each(ENDINGS)(
  "a connection ends for good when who approved it: %s",
  async (_, role, owns, scopes, end, restore) => {
    const person = await newPerson(role);
    const agent = await newAgent(owns ? person.id : null);
    const { lasting, unused } = await approveAll(person, agent, scopes);
    expect(await working(lasting)).toEqual(Object.keys(lasting));
    await end(person, agent);
    await settle(async () => (await working(lasting)).length === 0);
    await restore?.(person, agent);
    expect(await working({ ...lasting, ...unused })).toEqual([]);
    const states = (await sessionsOf(agent)).map(({ state }: { state: string }) => state);
    expect(states.filter((state: string) => state === "ended")).toHaveLength(2);
    const { keys } = ok(await world.admin.get(`/agents/${agent}/keys`));
    for (const key of keys) expect(key).toMatchObject({ state: "ended", approved_by: person.id });
  },
);

describe("a connection stays when who approved it", () => {
  const renew: Ending[4] = async ({ id }, agent) => {
    ok(await world.admin.patch(`/agents/${agent}`, { owner_user_id: id, name: "b" }));
    await update(id, { role: "member", status: "active" });
  };
  const STAYS: Ending[] = [
    ["is no admin any more, but owns the agent and approved no scope admin", "admin", true, ["send"], demote],
    ["as an admin loses an agent, for a scope that is an admin's", "admin", true, ["admin"], disown],
    ["gets the same owner, name and role again", "member", true, ["send"], renew],
    ["gets a new password", "member", true, ["send"], person({ reset_password: true })],
  ];
  test.each(STAYS)("%s", async (_, role, owns, scopes, change) => {
    const person = await newPerson(role);
    const agent = await newAgent(owns ? person.id : null);
    const { lasting, unused } = await approveAll(person, agent, scopes);
    await change(person, agent);
    const all = { ...lasting, ...unused };
    expect(await working(all)).toEqual(Object.keys(all));
  });
});

test("another's approval for the same agent stays, and can replace one that ended", async () => {
  const [first, second] = [await newPerson("admin"), await newPerson("admin")];
  const agent = await newAgent(null);
  const ends = await connect(client, first, agent, { resource: server.root });
  const stays = await connect(client, second, agent, { resource: server.root });
  await update(first.id, { status: "disabled" });
  await settle(async () => !(await works(ends.access_token)));
  expect(await works(stays.access_token)).toBe(true);
  const again = await connect(client, second, agent, { resource: server.root });
  expect(await works(again.access_token)).toBe(true);
});

test("the list of sessions shows who approved each, and for what", async () => {
  const person = await newPerson("admin");
  const agent = await newAgent(person.id);
  const before = await approved(person, agent, ["send"]);
  await connect(client, person, agent, { scope: "memory:read" });
  const { display_name: name } = ok(await person.get("/auth/me")).user;
  const sessions = await sessionsOf(agent);
  expect(sessions).toHaveLength(2);
  for (const session of sessions)
    expect(session).toMatchObject({ state: "active", approved_by: { id: person.id, name } });
  const scopes = sessions.map((session: { scopes: string[] }) => session.scopes);
  expect(scopes).toEqual(expect.arrayContaining([["send"], ["memory:read"]]));
  expect((await complete(before)).status).toBe(200);
});

test("a connection with the scope admin creates no credentials, and its own key can", async () => {
  const agent = await newAgent(null);
  const webhook = { name: "w", source: "s", mapping: { entity: "e", action: "a" } };
  const made = ok(await world.admin.post("/ingest/webhooks", webhook));
  const fields = { scope: "admin", resource: server.root };
  const { access_token } = await connect(client, world.admin, agent, fields);
  const { api_key } = ok(await complete(await approved(world.admin, agent, ["admin"])));
  const calls: [path: string, body: object][] = [
    [`/agents/${agent}/keys`, { scopes: ["send"] }],
    [`/agents/${agent}/signing-secret`, {}],
    ["/ingest/webhooks", webhook],
    [`/ingest/webhooks/${made.id}:rotate`, {}],
  ];
  for (const token of [access_token, api_key])
    for (const [path, body] of calls) await refused(api(server, token).post(path, body), "forbidden");
  const { key } = ok(await world.admin.post(`/agents/${agent}/keys`, { scopes: ["admin"] }));
  for (const [path, body] of calls) ok(await api(server, key).post(path, body));
});

test("a key names who created it, and stays when they leave", async () => {
  const person = await newPerson("admin");
  const agent = await newAgent(null);
  const { key, ...made } = ok(await person.post(`/agents/${agent}/keys`, { scopes: ["send"] }));
  expect(made).toMatchObject({ created_by: person.id, approved_by: null, state: "active" });
  await update(person.id, { status: "disabled" });
  await settle(async () => (await person.get("/auth/me")).status === 401);
  expect(await works(key)).toBe(true);
});

describe("a person's session", () => {
  test("loses the scope admin with the role", async () => {
    const person = await newPerson("admin");
    const agent = await newAgent(null);
    const createKey = () => person.post(`/agents/${agent}/keys`, { scopes: ["send"] });
    ok(await createKey());
    await update(person.id, { role: "member" });
    await settle(async () => (await createKey()).status === 403);
    expect(ok(await person.get("/auth/me"))).toMatchObject({ user: { role: "member" } });
    expect(ok(await person.get("/auth/me")).scopes).not.toContain("admin");
  });

  test("ends when an admin removes what may have begun it", async () => {
    for (const change of [{ reset_totp: true }, { unlink_identity: true }]) {
      const person = await newPerson("member");
      ok(await person.get("/auth/me"));
      await update(person.id, change);
      await settle(async () => (await person.get("/auth/me")).status === 401);
    }
  });
});

test.each<[string, string[], Ending[4], Ending[4]]>([
  ["is disabled", [], disable, enable],
  ["issued it for an agent that is deactivated", [], stop, start],
  ["is no admin any more", ["claimed code", "issued code"], demote, promote],
])("a code that was not approved ends for good when who issued it: %s", async (_, left, end, restore) => {
  const person = await newPerson("admin");
  const agent = await newAgent(null);
  const waiting = await waitingFor(person, agent);
  await end(person, agent);
  await restore(person, agent);
  expect(await working(waiting(world.admin))).toEqual(left);
});

test("a suspension permanently ends what was issued before, but no key that was created", async () => {
  const other = await makeWorld(server, "suspended");
  const set = async (status: string) =>
    ok(await api(server, OPERATOR_TOKEN).patch(`/tenants/${other.tenant_id}`, { status }));
  const { lasting, unused } = await approveAll(other.admin, other.agentId, ["send"]);
  const waiting = await waitingFor(other.admin, other.agentId);
  const all = { ...lasting, session: () => works(other.adminToken) };
  const { key } = ok(await other.admin.post(`/agents/${other.agentId}/keys`, { scopes: ["send"] }));
  expect([await working(all), await works(key)]).toEqual([Object.keys(all), true]);
  await set("suspended");
  await settle(async () => (await working(all)).length === 0 && !(await works(key)));
  await set("active");
  await settle(() => works(key));
  const again = api(server, await signIn(server, other.credentials, other.slug));
  expect(await working({ ...all, ...unused, ...waiting(again) })).toEqual([]);
  const fresh = await approveAll(again, other.agentId, ["send"]);
  expect(await working({ ...fresh.lasting, ...fresh.unused })).toHaveLength(7);
});
