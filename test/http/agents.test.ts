import { describe, expect, test } from "@jest/globals";
import { agentToken, api } from "../support/http.ts";
import { makeWorld, ok, refusal, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared();
const world = await makeWorld(server, "acme");
const admin = world.admin;

const AGENT = { name: "Billing watcher", delivery_mode: "poll" };
const newAgent = async (fields: object = {}) => ok(await admin.post("/agents", { ...AGENT, ...fields }));

describe("an agent", () => {
  test("has what the specification names, and its signing secret once", async () => {
    const owner = ok(await admin.get("/auth/me")).user.id;
    // Fields that the server sets are ignored, so that an agent that was read can be copied.
    for (const chosen of [{ tenant_id: "tn_other" }, { status: "inactive" }, { id: "ag_mine" }]) {
      const { id, tenant_id, status } = ok(await admin.post("/agents", { ...AGENT, ...chosen }));
      expect(Object.values(chosen)).not.toContain({ id, tenant_id, status }[Object.keys(chosen)[0] as "id"]);
    }
    const answer = await admin.post("/agents", AGENT);
    expect(answer.status).toBe(201);
    const { signing_secret, ...agent } = answer.body;
    expect(agent).toEqual({
      ...{ id: expect.stringMatching(/^ag_/), tenant_id: world.tenant_id, name: AGENT.name },
      ...{ description: null, status: "active", delivery_mode: "poll", delivery_endpoint: null },
      ...{ push_format: "structured", a2a: false, push_stopped: false, team_id: null, owner_user_id: owner },
      ...{ visibility_timeout_seconds: null, retry_budget: null, retry_delays_seconds: null },
      ...{ max_in_flight: null, max_per_minute: null },
      ...{ created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/), updated_at: expect.any(String) },
    });
    expect(Buffer.from(signing_secret.replace(/^whsec_/, ""), "base64")).toHaveLength(32);
    expect(ok(await admin.get(`/agents/${agent.id}`))).toEqual(agent);
  });

  test("takes all of its settings, and null takes them back", async () => {
    const team_id = ok(await admin.post("/teams", { name: "takers", description: "who take" })).id;
    const settings = {
      ...{ name: "Renamed", description: "Watches", delivery_mode: "push" },
      ...{ delivery_endpoint: "https://example.com/hook?a=b", team_id },
      ...{ owner_user_id: await world.idOf("usr"), visibility_timeout_seconds: 43_200, retry_budget: 100 },
      retry_delays_seconds: [1, 86_400],
    };
    const { id } = await newAgent();
    const changed = ok(await admin.patch(`/agents/${id}`, settings));
    expect(changed).toMatchObject(settings);
    expect(ok(await admin.get(`/agents/${id}`))).toEqual(changed);
    const { name, delivery_mode, ...nullable } = settings;
    const none = Object.fromEntries(Object.keys(nullable).map((field) => [field, null]));
    expect(ok(await admin.patch(`/agents/${id}`, none))).toMatchObject({ ...none, name, delivery_mode });
    expect(await newAgent(settings)).toMatchObject(settings);
  });

  const endpoint = (delivery_endpoint: string): [object, string] => [
    { delivery_endpoint },
    "validation_error",
  ];
  const wrong: [string, object, string?][] = [
    ["no name", { name: "" }],
    ["a name of blanks", { name: "  " }],
    ["an unknown mode", { delivery_mode: "pigeon" }],
    ["a budget of none", { retry_budget: 0 }],
    ["a budget as text", { retry_budget: "5" }],
    ["an endless timeout", { visibility_timeout_seconds: 43_201 }],
    ["an endpoint that is no URL", { delivery_endpoint: "here" }],
    ["another scheme", { delivery_endpoint: "ftp://example.com/" }],
    ["a loopback endpoint", ...endpoint("http://127.0.0.1/")],
    ["a loopback name", ...endpoint("http://localhost:1/")],
    ["a private endpoint", ...endpoint("http://10.0.0.1/")],
    ["a link-local one", ...endpoint("http://169.254.169.254/")],
    ["an endpoint with a password", ...endpoint("http://a:b@example.com/")],
    ["an endpoint whose host may be a password, by #", ...endpoint("http://a:b1#c@example.com/")],
    ["an endpoint whose host may be a password, by /", ...endpoint("http://a:7/c@example.com/")],
    ["an endpoint whose host may be a password, by ?", ...endpoint("http://a:b1?c@example.com/")],
    ["a malformed team", { team_id: "nonsense" }, "validation_error"],
    ["an unknown team", { team_id: "team_none" }, "validation_error"],
    ["an unknown owner", { owner_user_id: "usr_none" }, "validation_error"],
  ];

  test.each(wrong)("is neither made nor changed with %s", async (_, fields, code = "validation_failed") => {
    const refused = refusal(400, code, { field: Object.keys(fields)[0] });
    const { signing_secret, ...agent } = await newAgent();
    const { total } = ok(await admin.get("/agents"));
    expect(await admin.post("/agents", { ...AGENT, ...fields })).toMatchObject(refused);
    expect(ok(await admin.get("/agents")).total).toBe(total);
    const change = { description: "changed", ...fields };
    expect(await admin.patch(`/agents/${agent.id}`, change)).toMatchObject(refused);
    expect(ok(await admin.get(`/agents/${agent.id}`))).toEqual(agent);
  });

  test("is read by itself and the member who owns it, in whose list it is", async () => {
    const me = api(server, await world.tokenWith(["send"]));
    const { agent } = ok(await me.get("/auth/me"));
    expect(ok(await me.get(`/agents/${agent.id}`))).toEqual(agent);
    const details = { required_scope: "admin" };
    await refused(me.get(`/agents/${world.agentId}`), "insufficient_scope", details);
    const { user } = ok(await world.member.get("/auth/me"));
    const list = async (query: string) => ok(await world.member.get(`/auth/me/agents?limit=${query}`));
    const before = await list("1");
    const own = [await newAgent({ owner_user_id: user.id }), await newAgent({ owner_user_id: user.id })];
    const other = await newAgent();
    const { agents, total } = await list(`2&offset=${before.total}`);
    expect(agents.map(({ id }: { id: string }) => id)).toEqual(own.map(({ id }) => id));
    expect(total).toBe(before.total + 2);
    expect(ok(await world.member.get(`/agents/${own[0].id}`)).id).toBe(own[0].id);
    await refused(world.member.get(`/agents/${other.id}`), "insufficient_scope");
  });

  test("can be deactivated and activated repeatedly", async () => {
    const { id } = await newAgent();
    for (const status of ["inactive", "inactive", "active", "active"])
      expect(ok(await admin.patch(`/agents/${id}/status`, { status }))).toMatchObject({ id, status });
    const answer = await admin.patch(`/agents/${id}/status`, { status: "asleep" });
    expect(answer).toMatchObject(refusal(400, "validation_failed", { field: "status" }));
  });
});

test("the list of agents is paged, oldest first, and filtered by status", async () => {
  const other = await makeWorld(server, "pages");
  const ids = [other.agentId];
  for (let i = 0; i < 5; i++) ids.push(ok(await other.admin.post("/agents", AGENT)).id);
  ok(await other.admin.patch(`/agents/${ids[2]}/status`, { status: "inactive" }));
  const list = async (query: string) => {
    const { agents, total } = ok(await other.admin.get(`/agents${query}`));
    return [agents.map((agent: { id: string }) => agent.id), total];
  };
  expect(await list("")).toEqual([ids, 6]);
  expect(await list("?limit=2&offset=3")).toEqual([ids.slice(3, 5), 6]);
  expect(await list("?offset=6")).toEqual([[], 6]);
  expect(await list("?status=inactive")).toEqual([[ids[2]], 1]);
  expect(await list("?status=active&limit=1")).toEqual([[ids[0]], 5]);
});

test("a signing secret: is rotated, and the previous one stays valid for a day", async () => {
  const { id, signing_secret } = await newAgent();
  const before = Date.now();
  const answer = ok(await admin.post(`/agents/${id}/signing-secret`));
  const took = Date.now() - before;
  expect(answer.signing_secret).toMatch(/^whsec_/);
  expect(answer.signing_secret).not.toBe(signing_secret);
  const left = Date.parse(answer.previous_ends_at) - before;
  expect(Math.abs(left - 24 * 3_600_000)).toBeLessThan(5000 + took);
});

describe("a key", () => {
  test("is shown once, then only its prefix", async () => {
    const { id } = await newAgent();
    const expires_at = new Date(Date.now() + 60_000).toISOString();
    const body = { name: "in production", scopes: ["send", "admin"], expires_at };
    const made = await admin.post(`/agents/${id}/keys`, body);
    const { key, ...listed } = made.body;
    expect(made.status).toBe(201);
    expect(key).toMatch(/^ak_live_[A-Za-z0-9]{32}$/);
    expect(listed).toEqual({
      ...{ id: expect.stringMatching(/^key_/), name: "in production", prefix: key.slice(0, 12) },
      ...{ requests_per_minute: null, scopes: ["send", "admin"], state: "active" },
      ...{ created_by: expect.stringMatching(/^usr_/), approved_by: null, expires_at, last_used_at: null },
      created_at: expect.any(String),
    });
    expect(ok(await admin.get(`/agents/${id}/keys`))).toEqual({ keys: [listed], total: 1 });
    expect(ok(await admin.post(`/agents/${id}/keys`, { scopes: ["send"] })).name).toBeNull();
  });

  test.each<[string, object, string, string?]>([
    ["a blank name", { name: " ", scopes: ["send"] }, "name"],
    ["no scopes", { scopes: [] }, "scopes"],
    ["scopes left out", {}, "scopes"],
    ["an unknown scope", { scopes: ["sing"] }, "scopes.0"],
    ["a scope twice", { scopes: ["send", "send"] }, "scopes"],
    ["an end that is no time", { scopes: ["send"], expires_at: "soon" }, "expires_at"],
    [
      "an end in the past",
      { scopes: ["send"], expires_at: "2020-01-01T00:00:00Z" },
      "expires_at",
      "validation_error",
    ],
  ])("is not made with %s", async (_, body, field, code = "validation_failed") => {
    const { id } = await newAgent();
    expect(await admin.post(`/agents/${id}/keys`, body)).toMatchObject(refusal(400, code, { field }));
    expect(ok(await admin.get(`/agents/${id}/keys`)).total).toBe(0);
  });

  test("is revoked only under its own agent", async () => {
    const [one, other] = [await newAgent(), await newAgent()];
    const { id } = ok(await admin.post(`/agents/${one.id}/keys`, { scopes: ["send"] }));
    await refused(admin.del(`/agents/${other.id}/keys/${id}`), "not_found");
    expect(ok(await admin.get(`/agents/${one.id}/keys`)).total).toBe(1);
  });
});

describe("teams and people", () => {
  test("a team's name is taken once", async () => {
    const { id } = ok(await admin.post("/teams", { name: "unique" }));
    const details = { field: "name", existing_resource_id: id };
    await refused(admin.post("/teams", { name: "unique" }), "conflict", details);
    expect((await admin.post("/teams", { name: "" })).status).toBe(400);
    const { teams } = ok(await admin.get("/teams"));
    expect(teams.filter((team: { name: string }) => team.name === "unique")).toEqual([
      { id, tenant_id: world.tenant_id, name: "unique", description: null, created_at: expect.any(String) },
    ]);
  });

  test("a deleted team loses its agents, and what they shared stays for its authors and admins", async () => {
    const team_id = ok(await admin.post("/teams", { name: "passing" })).id;
    const join = async (name: string) => {
      const { id } = ok(await admin.post("/agents", { name, delivery_mode: "poll", team_id }));
      const { key } = ok(await admin.post(`/agents/${id}/keys`, { scopes: ["memory:read", "memory:write"] }));
      return { id, key };
    };
    const [author, mate] = [await join("author"), await join("mate")];
    const signedIn = async ({ key }: { key: string }) => api(server, await agentToken(server, key));
    const shared = { title: "t", content: "c", type: "semantic", scope: "team", team_id };
    const memory = `/memories/${ok(await (await signedIn(author)).post("/memories", shared)).id}`;
    expect((await (await signedIn(mate)).get(memory)).status).toBe(200);

    const deleted = await admin.del(`/teams/${team_id}`);
    expect(deleted).toMatchObject({ status: 200, body: { id: team_id, agents_removed: 2 } });
    for (const { id } of [author, mate]) expect(ok(await admin.get(`/agents/${id}`)).team_id).toBeNull();
    expect((await (await signedIn(mate)).get(memory)).status).toBe(404);
    expect((await (await signedIn(author)).get(memory)).status).toBe(200);
    expect((await admin.get(memory)).status).toBe(200);
    const { teams } = ok(await admin.get("/teams"));
    expect(teams.some(({ id }: { id: string }) => id === team_id)).toBe(false);
    await refused(admin.del(`/teams/${team_id}`), "not_found");
    await refused(admin.patch(`/agents/${mate.id}`, { team_id }), "validation_error", "team_id");
    expect((await admin.post("/teams", { name: "passing" })).status).toBe(201);
  });

  test("an e-mail is taken once in a tenant, in whatever case", async () => {
    const { id, password, ...user } = ok(
      await admin.post("/users", { email: "fay@acme.example", role: "admin" }),
    );
    expect(password).toHaveLength(24);
    const expected = { email: "fay@acme.example", display_name: "fay", role: "admin", status: "active" };
    expect(user).toMatchObject(expected);
    const details = { field: "email", existing_resource_id: id };
    await refused(admin.post("/users", { email: "FAY@acme.example" }), "conflict", details);
    const listed = ok(await admin.get("/users")).users.find((each: { id: string }) => each.id === id);
    expect(listed).toEqual({ id, ...user });
  });

  test.each([
    ["no e-mail", {}],
    ["one that is none", { email: "fay" }],
    ["an unknown role", { email: "g@acme.example", role: "king" }],
    ["a short password", { email: "g@acme.example", password: "12345678901" }],
  ])("nobody is invited with %s", async (_, body) => {
    const { total } = ok(await admin.get("/users"));
    await refused(admin.post("/users", body), "validation_failed");
    expect(ok(await admin.get("/users")).total).toBe(total);
  });

  test("an admin cannot lock out themselves", async () => {
    const { user } = ok(await admin.get("/auth/me"));
    for (const change of [{ role: "member" }, { status: "disabled" }])
      await refused(admin.patch(`/users/${user.id}`, change), "business_rule_violation", {
        rule: "own_account",
      });
    expect(ok(await admin.get("/users")).total).toBeGreaterThan(0);
  });
});
