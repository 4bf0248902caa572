import { beforeAll, describe, expect, test } from "@jest/globals";
import { Type } from "typebox";
import { isAudited, type Operation } from "../../lib/contract/contract.ts";
import { PREFIXED } from "../../lib/ids.ts";
import { operations } from "../../services/contracts.ts";
import { newAgent } from "../support/agents.ts";
import { type Api, api, type Json } from "../support/http.ts";
import { pagesOf } from "../support/pages.ts";
import { identifierKind, sampleBody } from "../support/sample.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, ok, refusal, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";
import { words } from "../support/words.ts";

const server = await useShared();
const world = await makeWorld(server, "audited");

const entries = async (query = ""): Promise<Json[]> => ok(await world.admin.get(`/audit?${query}`)).entries;

describe("audited actions", () => {
  const ofTenants = operations.filter((op) => isAudited(op) && op.access.by !== "operator");

  test("is what admins and people alone may change, what deletes, and what contracts say so of", () => {
    const actions = ofTenants.map(({ action }) => action);
    expect(actions).toEqual(
      expect.arrayContaining([
        ...["agents.create", "keys.create", "users.update", "memories.promote", "runs.close"],
        ...words`merges.resolve exemplars.download handoffs.delete devices.confirm specialists.write`,
      ]),
    );
    for (const each of ["memories.create", "agents.list", "handoffs.save"])
      expect(actions).not.toContain(each);
    for (const op of ofTenants) if (op.method === "GET") expect(op.audit).toBe(true);
  });

  test.each(ofTenants.map((op) => [`${op.method} ${op.url}`, op] as const))(
    "%s leaves an entry, with no value of what was sent",
    async (_, op) => {
      const request_id = `audit-${op.action}`;
      const body = sampleBody(op.body ?? {});
      const { status } = await send(op, body, request_id);
      const all = await entries("limit=200");
      const [entry, ...more] = all.filter(
        (each) => each.request_id === request_id && each.action === op.action,
      );
      expect(more).toEqual([]);
      expect(entry).toMatchObject({
        actor_kind: op.access.by === "any" || op.access.by === "agent" ? "agent" : "user",
        actor_id: expect.any(String),
        ip: expect.any(String),
        outcome: status < 400 ? "done" : "refused",
      });
      if (op.body)
        expect(entry.details.fields ?? []).toEqual(Object.keys(op.body).filter((name) => name in body));
      // A slug is a name, as an id is.
      const texts = Object.entries(body)
        .filter(([name, value]) => name !== "slug" && typeof value === "string" && value.length > 8)
        .map(([, value]) => value as string);
      for (const text of texts) expect(JSON.stringify(entry)).not.toContain(text);
    },
  );
});

/** Sends an operation with ids that nothing has: what deletes must not delete what the next one needs. */
async function send(op: Operation, body: unknown, request_id: string) {
  const caller: Api = op.access.by === "any" || op.access.by === "agent" ? world.agent : world.admin;
  let { url } = op;
  for (const [name, schema] of Object.entries(op.path ?? {}))
    url = url.replace(`{${name}}`, encodeURIComponent(absentId(identifierKind(schema) as string)));
  const { required = [] } = Type.Object(op.query ?? {}) as { required?: string[] };
  const query = required.map(
    (name) => `${name}=${absentId(identifierKind(op.query?.[name] as never) as string)}`,
  );
  const path = `${op.root ? server.root : ""}${url}?${query.join("&")}`;
  const headers = { "x-request-id": request_id };
  if (op.method === "GET") return caller.get(path, headers);
  if (op.method === "DELETE") return caller.del(path, headers);
  const by = { POST: caller.post, PUT: caller.put, PATCH: caller.patch }[op.method as "POST"];
  return by(path, op.body ? body : undefined, headers);
}

const NAMED = ["project", "specialist", "template_slug"];

function absentId(kind: string): string {
  if (kind in PREFIXED) return `${kind}_nobodyhasthis`;
  return NAMED.includes(kind) ? "nobody-has-this" : "0199c0de-7a11-7c3e-9f00-000000000000";
}

test("shared resources name who changed them", async () => {
  const [one, other] = await Promise.all(
    [1, 2].map(async () => api(server, await world.tokenWith(["memory:read", "memory:write"]))),
  );
  const [first, second] = [one as Api, other as Api];
  const idOf = async (who: Api) => ok(await who.get("/auth/me")).agent.id as string;
  const [by, also] = [await idOf(first), await idOf(second)];
  const changes = async (query: string) =>
    (await entries(query)).map(({ action, actor_id, details }) => [action, actor_id, details]).reverse();

  const steps = [{ step_key: "a", title: "A", completion_mode: "attestation" }];
  const authored = { name: "T", slug: "audited-t", steps };
  const template = ok(await first.post("/process-templates", authored)).id;
  const next = ok(await second.post("/process-templates", { ...authored, name: "U" })).id;
  expect(await changes(`resource_type=template&resource_id=${template}`)).toEqual([
    ["templates.author", by, { fields: ["name", "slug", "steps"], slug: "audited-t", version_num: 1 }],
  ]);
  const answer = (await changes(`resource_type=template&resource_id=${next}`))[0];
  expect(answer).toEqual(["templates.author", also, expect.objectContaining({ version_num: 2 })]);

  const run_id = ok(await first.post("/runs", { goal: "G", template_id: template })).id;
  ok(await second.post(`/runs/${run_id}/steps/start`, { step_key: "a" }));
  const artifact = ok(await second.post(`/runs/${run_id}/artifacts`, { kind: "k", pointer: {} }));
  ok(await first.post(`/runs/${run_id}/steps/complete`, { step_key: "a" }));
  const step = { run_id, fields: ["step_key"], step_key: "a" };
  expect(await changes(`resource_type=run&resource_id=${run_id}`)).toEqual([
    ["runs.create", by, { fields: ["goal", "template_id"] }],
    ["runs.start_step", also, step],
    ["runs.register_artifact", also, { run_id, fields: ["kind", "pointer"], artifact_id: artifact.id }],
    ["runs.complete_step", by, step],
  ]);

  const saved = ok(await first.post("/outputs", { body: "# Audited text", scope: "institutional" }));
  ok(await second.post("/outputs", { body: "# Audited again", output_id: saved.slug }));
  ok(await second.patch(`/outputs/${saved.slug}`, { project_id: null }));
  const of = await changes(`resource_type=output&resource_id=${saved.id}`);
  expect(of).toEqual([
    ["outputs.save", by, { fields: ["body", "scope"], version_num: 1 }],
    ["outputs.save", also, { fields: ["body", "output_id"], version_num: 2 }],
    ["outputs.update", also, { output_id: saved.slug, fields: ["project_id"] }],
  ]);
  expect(JSON.stringify(of)).not.toContain("Audited");
});

test("an entry names caller, action and resource, without secrets", async () => {
  const agent = ok(await world.admin.post("/agents", { name: "Audited", delivery_mode: "poll" }));
  const key = ok(await world.admin.post(`/agents/${agent.id}/keys`, { scopes: ["send"] }));
  ok(await world.admin.patch(`/agents/${agent.id}`, { name: "Renamed" }));
  expect((await world.admin.del(`/agents/${agent.id}/keys/${key.id}`)).status).toBe(204);
  await refused(world.admin.del(`/agents/${agent.id}/keys/key_nobody`), "not_found");
  const created = await entries(`resource_id=${agent.id}`);
  expect(created.map(({ action, details }) => [action, details.fields])).toEqual([
    ["agents.update", ["name"]],
    ["agents.create", expect.arrayContaining(["name", "delivery_mode"])],
  ]);
  const found = created[0];
  expect(found).toMatchObject({ resource_type: "agent", actor_kind: "user", outcome: "done", error: null });
  const ofKeys = await entries("resource_type=key&limit=3");
  expect(
    ofKeys.map(({ action, resource_id, outcome, error }) => [action, resource_id, outcome, error]),
  ).toEqual([
    [expect.any(String), "key_nobody", "refused", "not_found"],
    [expect.any(String), key.id, "done", null],
    ["keys.create", key.id, "done", null],
  ]);
  expect(ofKeys[1].details).toEqual({ agent_id: agent.id, key_id: key.id });
  expect(JSON.stringify(await entries("limit=200"))).not.toContain(key.key);
});

test("the log is read in pages, by what was done, by whom, when and how it ended", async () => {
  for (const name of ["one", "two", "three"]) ok(await world.admin.post("/teams", { name }));
  const all = await entries("action=teams.create");
  expect(await pagesOf(world.admin, "/audit?action=teams.create&limit=1", "entries")).toEqual(all);
  const [latest, before] = all;
  expect(await entries(`action=teams.create&since=${latest.at}`)).toContainEqual(latest);
  expect(await entries(`action=teams.create&until=${before.at}`)).not.toContainEqual(latest);
  const refused = await entries("outcome=refused");
  expect(new Set(refused.map(({ outcome }) => outcome))).toEqual(new Set(["refused"]));
  const answer = await entries(`actor_id=${world.agentId}&action=teams.create`);
  expect(answer).toEqual(all.filter(({ actor_id }) => actor_id === world.agentId));
  const found = await world.admin.get("/audit?cursor=none");
  expect(found).toMatchObject(refusal(400, "validation_failed", { field: "cursor" }));
});

test("the log has nothing of another tenant", async () => {
  const other = await makeWorld(server, "audited-too");
  ok(await other.admin.post("/teams", { name: "theirs" }));
  const theirs = ok(await other.admin.get("/audit")).entries;
  expect(theirs.length).toBeGreaterThan(0);
  const own = new Set((await entries("limit=200")).map(({ id }) => id));
  for (const { id } of theirs) expect(own.has(id)).toBe(false);
});

/** More than two parts of an export. */
const MANY = 1100;
const BOT_NAME = '=HYPERLINK("https://evil.example";"x")';

const exporter = await makeWorld(server, "exported");
const bot = await newAgent(server, exporter.admin, ["memory:read", "memory:write"]);
ok(await exporter.admin.patch(`/agents/${bot.id}`, { name: BOT_NAME }));

beforeAll(async () => {
  for (let at = 0; at < MANY; at += 50) {
    const notes = Array.from({ length: 50 }, (_, n) => bot.del(`/handoffs/${uuid(at + n)}`));
    for (const { status } of await Promise.all(notes)) expect(status).toBe(404);
  }
});

const uuid = (n: number) => `0199c0de-7a11-7c3e-9f00-${String(n).padStart(12, "0")}`;

const exported = async (query: string) => {
  const { status, headers, body } = await exporter.admin.get(`/audit/export?${query}`);
  return { status, headers, text: body as string };
};

test("NDJSON has every entry that the list has, in its order", async () => {
  const { headers, text } = await exported("format=ndjson&action=handoffs.delete");
  expect(headers.get("content-type")).toBe("application/x-ndjson; charset=utf-8");
  expect(headers.get("content-disposition")).toBe("attachment; filename=audit.ndjson");
  expect(text.endsWith("\n")).toBe(true);
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const listed = await pagesOf(exporter.admin, "/audit?action=handoffs.delete&limit=200", "entries");
  expect(listed).toHaveLength(MANY);
  expect(lines).toEqual(listed.map((entry) => ({ ...entry, actor_name: BOT_NAME })));
});

test("CSV names the actors, and has nothing that a spreadsheet would run", async () => {
  const { headers, text } = await exported("action=handoffs.delete&outcome=refused");
  expect(headers.get("content-type")).toBe("text/csv; charset=utf-8");
  const [head, first, ...rest] = text.trimEnd().split("\r\n");
  expect(head).toBe(
    "at,actor_name,actor_kind,actor_id,action,outcome,error,resource_type,resource_id,ip,request_id,details,id",
  );
  expect(rest).toHaveLength(MANY - 1);
  const name = `"'=HYPERLINK(""https://evil.example"";""x"")"`;
  expect(first).toContain(`Z,${name},agent,${bot.id},handoffs.delete,refused,not_found,handoff,`);
  expect(text).not.toMatch(/(^|,)"?[=+@-]/m);
});

test("the filters are those of the list", async () => {
  const { text } = await exported(`resource_id=${uuid(7)}`);
  expect(text.trimEnd().split("\r\n")).toHaveLength(2);
  const [entry] = ok(await exporter.admin.get("/audit?action=handoffs.delete&limit=1")).entries;
  const until = (await exported(`format=ndjson&action=handoffs.delete&until=${entry.at}`)).text;
  expect(until).not.toContain(entry.id);
});

test("an export of nothing has its header alone", async () => {
  expect((await exported("action=nothing")).text.trimEnd().split("\r\n")).toHaveLength(1);
  expect((await exported("format=ndjson&action=nothing")).text ?? "").toBe("");
});

test("an export is recorded once, however long it is", async () => {
  const recorded = async () =>
    ok(await exporter.admin.get("/audit?action=audit.export&limit=200")).entries.length;
  const before = await recorded();
  await exported("action=handoffs.delete");
  expect(await recorded()).toBe(before + 1);
});

test("an export has nothing of another tenant", async () => {
  const other = await makeWorld(server, "elsewhere");
  expect((await other.admin.get("/audit/export?format=ndjson")).body).not.toContain(bot.id);
});

const outside = api(server);
const other = await makeWorld(server, "signing-in-too");

const entriesOf = async (user: { id: string }, of = world): Promise<Json[]> =>
  ok(await of.admin.get(`/audit?resource_id=${user.id}`)).entries.filter(({ action }: { action: string }) =>
    action.startsWith("auth."),
  );
const invite = async (email: string, of = world) => ok(await of.admin.post("/users", { email }));

test("signing in and out is noted: who, from where and how", async () => {
  const user = await invite("ada@audited.example");
  const { email, password } = user;
  const { access_token } = ok(await outside.post("/auth/login", { email, password }));
  const browser = await outside.post("/auth/session", { email, password });
  const cookie = browser.headers.getSetCookie()[0]?.split(";")[0] as string;
  const headers = { cookie, "x-csrf-token": ok(browser).csrf_token };
  expect((await api(server, access_token).post("/auth/logout")).status).toBe(204);
  expect(ok(await outside.del("/auth/session", headers))).toEqual({ sign_out_url: null });
  const by = { actor_kind: "user", actor_id: user.id, resource_type: "user", outcome: "done", error: null };
  const seen = { ip: expect.stringMatching(/127\.0\.0\.1|::1/), request_id: expect.any(String) };
  expect(await entriesOf(user)).toMatchObject([
    { ...by, ...seen, action: "auth.logout" },
    { ...by, ...seen, action: "auth.logout" },
    { ...by, ...seen, action: "auth.login", details: { by: "browser" } },
    { ...by, ...seen, action: "auth.login", details: { by: "token" } },
  ]);
});

test("a failed sign-in is recorded once a minute for an address, without the password, where it was tried", async () => {
  const elsewhere = await invite("bob@audited.example", other);
  const user = await invite("bob@audited.example");
  const of = { password: "a wrong password", tenant_slug: world.slug };
  const attempt = { ...of, email: "Bob@audited.example" };
  for (let i = 0; i < 3; i++) expect((await outside.post("/auth/login", attempt)).status).toBe(401);
  expect((await outside.post("/auth/login", { ...attempt, email: "nobody@x.example" })).status).toBe(401);
  const noted = await settle(async () => {
    const all = await entriesOf(user);
    return all.length > 0 && all;
  });
  expect(noted[0]).toMatchObject({
    ...{ action: "auth.login", actor_kind: "user", actor_id: null, resource_type: "user" },
    ...{ outcome: "refused", error: "authentication_failed", ip: expect.stringMatching(/127\.0\.0\.1|::1/) },
  });
  // The clock may pass a full minute meanwhile.
  expect(noted.length).toBeLessThanOrEqual(2);
  expect(JSON.stringify(noted)).not.toContain("wrong password");
  expect(await entriesOf(elsewhere, other)).toEqual([]);
});

test("without a named organisation none sees the address: the attempt may be at another's account", async () => {
  const email = "carol@audited.example";
  const users = [
    [await invite(email), world],
    [await invite(email, other), other],
  ] as const;
  expect((await outside.post("/auth/login", { email, password: "a wrong password" })).status).toBe(401);
  for (const [user, of] of users) {
    const noted = await settle(async () => (await entriesOf(user, of))[0]);
    expect(noted).toMatchObject({ action: "auth.login", outcome: "refused", ip: null });
  }
  const theirs = ok(await outside.post("/auth/login", { email, password: users[0][0].password }));
  expect(theirs.user.tenant_id).toBe(world.tenant_id);
  expect((await entriesOf(users[1][0], other)).map(({ outcome }) => outcome)).toEqual(["refused"]);
});
