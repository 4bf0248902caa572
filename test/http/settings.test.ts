import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { cloudEvent, firstAgent, newAgent, type TestAgent } from "../support/agents.ts";
import { textFile } from "../support/documents.ts";
import { blocksOf, page } from "../support/guides.ts";
import { api } from "../support/http.ts";
import { ownFolder } from "../support/own-folder.ts";
import { makeWorld, OPERATOR_TOKEN, ok, refusal } from "../support/tenancy.ts";
import { useServer } from "../support/use.ts";

const PER_AGENT = 5;
const PER_TENANT = 12;
const LONGEST_TYPE = 255;

// Settings that this server alone has: limits that are lowered, an extension of the operator's, and its secret key.

const folder = await ownFolder();
mkdirSync(join(folder, "greeter"));
writeFileSync(join(folder, "greeter/extension.ts"), blocksOf(page("docs/extensions.md"), "ts").join(""));

const env = {
  ...{ OPERATOR_TOKEN, EXTENSIONS: "greeter", EXTENSIONS_DIR: folder, GREETING: "Servus" },
  SECRET_KEY: Buffer.alloc(32, 7).toString("base64"),
  ...{ RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none", MAX_INTERESTS_PER_AGENT: `${PER_AGENT}` },
  ...{ MAX_INTERESTS_PER_TENANT: `${PER_TENANT}`, OUTPUT_BODY_MAX: "10", DOCUMENT_MAX_BYTES: "2000000" },
};
const server = await useServer({ env });
const admin = await firstAgent(server);

const interestsOf = ({ id }: { id: string }) => `/agents/${id}/interests`;
const limitOf = (of: string, limit: number) => ({
  status: 422,
  body: { error: { code: "business_rule_violation", details: { rule: "interest_limit", of, limit } } },
});

/** Declares interests at the same time; gives how many were created and the other answers. */
async function declare(agent: TestAgent, prefix: string, count: number) {
  const answers = await Promise.all(
    Array.from({ length: count }, (_, i) => agent.post(interestsOf(agent), { event_type: `${prefix}.${i}` })),
  );
  return {
    created: answers.filter(({ status }) => status === 201).map(({ body }) => body),
    refused: answers.filter(({ status }) => status !== 201),
  };
}

test("an agent has a limit of interests, also for concurrent requests", async () => {
  const agent = await newAgent(server, admin);
  const { created, refused } = await declare(agent, "com.many", PER_AGENT + 3);
  expect(created).toHaveLength(PER_AGENT);
  for (const answer of refused) expect(answer).toMatchObject(limitOf("agent", PER_AGENT));
  expect(ok(await agent.get(interestsOf(agent))).total).toBe(PER_AGENT);
  const { event_type } = created[0];
  expect(await agent.post(interestsOf(agent), { event_type })).toMatchObject({
    status: 422,
    body: { error: { details: { rule: "interest_conflict", existing_resource_id: created[0].id } } },
  });
  ok(await agent.del(`${interestsOf(agent)}/${created[0].id}`));
  expect((await agent.post(interestsOf(agent), { event_type })).status).toBe(201);
});

test("a tenant has a limit of interests and feeds over all agents", async () => {
  const agents = await Promise.all([1, 2, 3].map(() => newAgent(server, admin)));
  const channel = ok(await admin.post("/channels", { name: "limits" }));
  const feeds = `/channels/${channel.id}/feeds`;
  ok(await admin.post(feeds, { event_type_glob: "com.feed.first" }));
  const declared = await Promise.all(agents.map((agent, i) => declare(agent, `com.of${i}`, PER_AGENT)));
  // The agent of the previous test is at its limit, and one feed exists.
  expect(declared.flatMap(({ created }) => created)).toHaveLength(PER_TENANT - PER_AGENT - 1);
  for (const answer of declared.flatMap(({ refused }) => refused))
    expect(answer).toMatchObject(limitOf("tenant", PER_TENANT));
  expect(await admin.post(feeds, { event_type_glob: "com.feed.second" })).toMatchObject(
    limitOf("tenant", PER_TENANT),
  );
  ok(await admin.del(`/channels/${channel.id}`));
  expect((await declare(agents[0] as TestAgent, "com.again", 1)).created).toHaveLength(1);
});

const tooMany: [string, string, string][] = [
  ["stars", `${"a*".repeat(17)}`, "at most 16 `*`, this one has 17"],
  ["single characters", `*${"?".repeat(20)}${"[aa]".repeat(20)}[b]*`, "at most 32 `?` and `[...]`"],
];

test.each(tooMany)(
  "work of matching is bounded %s of interests, feeds and lists",
  async (name, glob, told) => {
    const { id } = ok(await admin.post("/channels", { name }));
    for (const [field, refused] of [
      ["event_type", await admin.post(interestsOf(admin), { event_type: glob })],
      ["event_type", await admin.post(`${interestsOf(admin)}:test`, { event_type: glob })],
      ["event_type_glob", await admin.post(`/channels/${id}/feeds`, { event_type_glob: glob })],
      ["type", await admin.get(`/events?type=${encodeURIComponent(glob)}`)],
    ] as const) {
      expect(refused).toMatchObject(refusal(400, "validation_error", { field }));
      expect(refused.body.error.message).toContain(told);
    }
  },
);

test.each([
  ["letters", "a"],
  ["characters of two units", "😀"],
])("work of matching is bounded an event's type, in %s", async (name, letter) => {
  const longest = cloudEvent(`longest-${name}`, { type: letter.repeat(LONGEST_TYPE) });
  expect((await admin.post("/events", longest)).status).toBe(202);
  const longer = cloudEvent(`longer-${name}`, { type: letter.repeat(LONGEST_TYPE + 1) });
  const { status, body } = await admin.post("/events", longer);
  expect([status, body.error.code, body.error.details.field]).toEqual([400, "invalid_event", "type"]);
  expect(body.error.message).toContain("at most 255");
});

test("an output and a document have so many bytes at most", async () => {
  const tooLarge = (actual_size: number, max_size: number) =>
    refusal(413, "payload_too_large", { actual_size, max_size });
  expect((await admin.post("/outputs", { body: "x".repeat(10) })).status).toBe(201);
  expect(await admin.post("/outputs", { body: "x".repeat(11) })).toMatchObject(tooLarge(11, 10));
  const long = await admin.post("/documents", textFile("x".repeat(2_000_001)));
  expect(long).toMatchObject(tooLarge(2_000_001, 2_000_000));
  expect(ok(await admin.get("/documents")).total).toBe(0);
});

const world = await makeWorld(server, "extended");
const greet = (name: string) => world.agent.post("/greetings", { name });

describe("the extension of docs/extensions.md", () => {
  test("runs with its settings, contract and collection", async () => {
    expect(ok(await greet("Ann"))).toEqual({ greeting: "Servus, Ann", count: 1 });
    expect(ok(await greet("Ann"))).toEqual({ greeting: "Servus, Ann", count: 2 });
    const other = await makeWorld(server, "other");
    expect(ok(await other.agent.post("/greetings", { name: "Ann" })).count).toBe(1);
    expect((await greet("")).body.error).toMatchObject({ code: "validation_failed" });
    expect((await api(server).post("/greetings", { name: "Ann" })).status).toBe(401);
    const token = await world.tokenWith(["receive"]);
    expect((await api(server, token).post("/greetings", { name: "Ann" })).status).toBe(403);
  });

  test("is erased like the core's collections", async () => {
    ok(await greet("Berta"));
    const { erased } = ok(await world.admin.post("/memories/erase", { subject: "Berta" }));
    expect(erased).toMatchObject({ greetings: 1 });
    expect(ok(await greet("Berta")).count).toBe(1);
  });

  test("is in the documents, and what does not run is nowhere", async () => {
    const { paths } = ok(await api(server).get(`${server.root}/openapi.json`));
    expect(Object.keys(paths)).toContain("/v1/greetings");
    expect(Object.keys(paths).filter((path) => path.includes("a2a"))).toEqual([]);
    expect(ok(await world.agent.get("/limits")).extensions).toEqual(["greeter"]);
    for (const path of [
      `${server.root}/a2a/${world.agentId}`,
      "/a2a-tasks/0199c0de-7a11-7c3e-9f00-5a1b2c3d4e5f/status",
    ])
      expect((await world.agent.post(path, {})).body.error).toMatchObject({ code: "not_found" });
    expect(ok(await api(server).get(`${server.root}/llms.txt`))).not.toContain("Agent2Agent");
    // With the agent, without the extension that declares an eraser of it.
    ok(await world.admin.post("/memories/erase", { agent_id: world.agentId }));
  });
});

test("a SECRET_KEY that is a setting is replaced there", async () => {
  const operator = api(server, OPERATOR_TOKEN);
  const refused = refusal(422, "business_rule_violation", { rule: "secret_key_setting" });
  expect(await operator.post("/rotation", { keys: ["secret"] })).toMatchObject(refused);
  expect(await operator.post("/rotation/finish")).toMatchObject(refused);
  expect(ok(await operator.get("/rotation")).secret_key).toMatchObject({
    kept_in: "settings",
    fallbacks: [],
  });
});
