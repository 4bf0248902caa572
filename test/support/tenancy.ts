import { type Answer, type Api, agentToken, api, type Json } from "./http.ts";
import { ofKits } from "./kits.ts";
import { once } from "./once.ts";
import type { TestServer } from "./server.ts";
import { settle } from "./settle.ts";

const { expect } = once("expect") as typeof import("expect");

export const OPERATOR_TOKEN = "the-long-operator-token-of-the-tests";

const LIMITS = "RATE_LIMIT_PER_MINUTE LOGIN_ATTEMPTS_PER_MINUTE PUBLIC_FAILURES_PER_MINUTE".split(" ");
/** No limits of rates and failures: all tests have the same address. */
export const UNLIMITED = Object.fromEntries(LIMITS.map((name) => [name, "0"]));
export const NO_LIMITS = { EMBEDDER: "none", ...UNLIMITED };

/** A well-formed id that nothing has. */
export const ABSENT = "0199c0de-7a11-7c3e-9f00-5a1b2c3d4e5f";

/** A tenant with its most privileged callers and some resources. */
export interface World {
  tenant_id: string;
  slug: string;
  /** Address of the server, without the version segment. */
  root: string;
  /** The organisation's admin. */
  admin: Api;
  adminToken: string;
  /** The admin's credentials. */
  credentials: { email: string; password: string };
  member: Api;
  /** An agent whose key has the scope `admin`. */
  agent: Api;
  agentToken: string;
  agentId: string;
  apiKey: string;
  /** Returns an id of the tenant for each kind of identifier, creating the resource on first use. */
  idOf(kind: string): Promise<string>;
  /** All that were asked for so far, with the tenant's own. */
  ids(): Promise<string[]>;
  /** A token of an agent whose key has these scopes. */
  tokenWith(scopes: string[]): Promise<string>;
}

/** Makes a tenant through the operator's API. @param name its slug, which has a suffix on a shared server */
export async function makeWorld(server: TestServer, name: string): Promise<World> {
  const slug = name + (server.suffix ?? "");
  const operator = api(server, OPERATOR_TOKEN);
  const made = ok(
    await operator.post("/tenants", { slug, name: slug, admin_email: `admin@${slug}.example` }),
  );
  const adminToken = await signIn(server, made.admin, slug);
  const admin = api(server, adminToken);
  const invited = ok(await admin.post("/users", { email: `member@${slug}.example` }));
  const token = await agentToken(server, made.agent.api_key);
  const agent = api(server, token);
  const ids = new Map<string, Promise<string>>();
  const world: World = {
    ...{ tenant_id: made.tenant.id, slug, root: server.root, admin, adminToken, credentials: made.admin },
    ...{ member: api(server, await signIn(server, invited, slug)), agent, agentToken: token },
    agentId: made.agent.id,
    apiKey: made.agent.api_key,
    idOf(kind) {
      const known = ids.get(kind) ?? makeId(kind, world);
      ids.set(kind, known);
      return known;
    },
    ids: async () => [made.tenant.id, ...(await Promise.all(ids.values()))],
    async tokenWith(scopes) {
      const made = ok(await admin.post("/agents", { name: scopes.join(" "), delivery_mode: "poll" }));
      const { key } = ok(await admin.post(`/agents/${made.id}/keys`, { scopes }));
      return agentToken(server, key);
    },
  };
  return world;
}

export async function signIn(
  server: TestServer,
  { email, password }: { email: string; password: string },
  tenant_slug: string,
): Promise<string> {
  return ok(await api(server).post("/auth/login", { email, password, tenant_slug })).access_token;
}

/** The body of an answer that must not be a refusal. */
export function ok({ status, body }: Answer): Json {
  if (status >= 400) throw new Error(`answered ${status}: ${JSON.stringify(body)}`);
  return body;
}

/** Returns the shape of an answer with this error, for `toMatchObject`. */
export function refusal(status: number, code: string, details: object = {}) {
  return { status, body: { error: { code, details: expect.objectContaining(details) } } };
}

const STATUSES = {
  ...{ validation_error: 400, validation_failed: 400, invalid_event: 400, authentication_failed: 401 },
  ...{ totp_required: 401, forbidden: 403, insufficient_scope: 403, not_found: 404, method_not_allowed: 405 },
  ...{ conflict: 409, step_not_ready: 409, step_not_completable: 409, payload_too_large: 413 },
  ...{ unsupported_media_type: 415, business_rule_violation: 422, rate_limited: 429 },
  service_unavailable: 503,
};

/** Asserts that an answer is this refusal. @param details some of them, or the field's name */
export async function refused(
  answer: Pick<Answer, "status" | "body"> | Promise<Answer>,
  code: keyof typeof STATUSES,
  details: object | string = {},
) {
  const some = typeof details === "string" ? { field: details } : details;
  expect(await answer).toMatchObject(refusal(STATUSES[code], code, some));
}

/** Statuses and codes, for rows of tables. */
export const INVALID = [400, "validation_error"] as const;
export const FAILED = [400, "validation_failed"] as const;
export const MISSING = [404, "not_found"] as const;

/** Creates a resource of each kind in a tenant. A new kind of identifier in a path needs a line here. */
/** The answer to a connected device. */
type Connected = { session_id: string; agent_id: string; api_key: string; access_token: string };

const MAKERS: Record<string, (world: World) => Promise<string>> = {
  ag: async ({ admin }) => ok(await admin.post("/agents", { name: "a", delivery_mode: "poll" })).id,
  key: async ({ admin, idOf }) =>
    ok(await admin.post(`/agents/${await idOf("ag")}/keys`, { scopes: ["send"] })).id,
  usr: async ({ admin, slug }) => ok(await admin.post("/users", { email: `u@${slug}.example` })).id,
  approval: async ({ agent }) =>
    ok(await agent.post("/approvals", { title: "Ship it?", question: "All checks are green." })).id,
  team: async ({ admin }) => ok(await admin.post("/teams", { name: "team" })).id,
  tn: async ({ tenant_id }) => tenant_id,
  int: async ({ admin, idOf }) =>
    ok(await admin.post(`/agents/${await idOf("ag")}/interests`, { event_type: "com.example.*" })).id,
  ch: async ({ admin }) => ok(await admin.post("/channels", { name: "channel" })).id,
  feed: async ({ admin, idOf }) =>
    ok(await admin.post(`/channels/${await idOf("ch")}/feeds`, { event_type_glob: "com.example.*" })).id,
  sch: async ({ admin, slug }) =>
    ok(await admin.post("/schedules", { name: slug, cron: "0 0 1 1 *", event: { type: "com.example.due" } }))
      .id,
  whk: async ({ admin }) =>
    ok(
      await admin.post("/ingest/webhooks", { name: "w", source: "s", mapping: { entity: "e", action: "a" } }),
    ).id,
  project: async ({ admin, slug }) => ok(await admin.post("/projects", { key: `project-of-${slug}` })).key,
  rel: async ({ agent, idOf }) => {
    const edge = { target_memory_id: await newMemory(agent), relationship_type: "related_to" };
    return ok(await agent.post(`/memories/${await idOf("memory")}/relationships`, edge)).id;
  },
  merge_proposal: async ({ agent, idOf }) => {
    const both = { memory_a_id: await idOf("memory"), memory_b_id: await newMemory(agent) };
    return ok(await agent.post("/memories/merge-proposals", both)).id;
  },
  evt: async ({ agent }) => ok(await agent.post("/events", event("of-a-tenant"))).event_id,
  event_type: async ({ agent, slug }) => {
    const published = { ...event(`type-of-${slug}`), type: `com.example.of-${slug}` };
    ok(await agent.post("/events", published));
    return published.type;
  },
  dlv: deadDelivery,
  replay: async ({ admin, idOf }) =>
    ok(await admin.post(`/agents/${await idOf("ag")}/replays`, { from: "2020-01-01T00:00:00Z" })).id,
  clm: async ({ admin, idOf }) => claimDevice(admin, await idOf("ag")),
  ses: async ({ admin, idOf }) => (await connectDevice(admin, await idOf("ag"))).session_id,
  memory: ({ agent }) => newMemory(agent),
  memory_namespace: async ({ slug }) => `of-${slug}`,
  memory_key: async ({ agent, slug }) =>
    ok(await agent.put(`/memories/keys/of-${slug}/key-of-${slug}`, { content: "c" })).key,
  process_template: async ({ agent, slug }) => (await authorTemplate(agent, `id-of-${slug}`)).id,
  template_slug: async ({ agent, slug }) => (await authorTemplate(agent, `slug-of-${slug}`)).slug,
  specialist: async ({ admin, slug }) =>
    ok(await admin.put(`/specialists/of-${slug}`, { system_prompt: "You are." })).name,
  run: async ({ agent }) => ok(await agent.post("/runs", { goal: "g", steps: [{ step_key: "a" }] })).id,
  record: async ({ agent, idOf }) =>
    ok(await agent.post(`/runs/${await idOf("run")}/steps/start`, { step_key: "a" })).id,
  handoff_offer: async ({ agent, idOf }) =>
    ok(await agent.post(`/runs/${await idOf("run")}/handoff-offers`, { step_key: "a" })).id,
  handoff: async ({ agent, slug }) => ok(await agent.post("/handoffs", { name: `of ${slug}` })).id,
  bundle: async ({ agent }) => ok(await agent.post("/bundles", {})).id,
  exemplar: async ({ agent, slug }) =>
    ok(await agent.post("/exemplars", { display_name: slug, filename: "e.md", content: `# ${slug}` })).id,
  output: async ({ agent, slug }) =>
    ok(await agent.post("/outputs", { body: `# Of ${slug}`, scope: "institutional" })).id,
  output_version: async ({ agent, idOf }) =>
    ok(await agent.get(`/outputs/${await idOf("output")}/versions`)).versions[0].id,
  document: ({ agent }) => newDocument(agent),
  source: async ({ agent, idOf }) =>
    ok(await agent.get(`/documents/${await idOf("document")}`)).ingestion_source_id,
  con: async ({ admin, slug }) => {
    const mapping = { entity: "thing", action: "made" };
    const broker = { kind: "amqp091", url: "amqp://broker.invalid", queue: slug, paused: true };
    return ok(await admin.post("/ingest/connectors", { name: "c", source: "test", mapping, ...broker })).id;
  },
};

/** Returns the kinds of identifiers. */
export async function kindsOfIds(): Promise<string[]> {
  return Object.keys({ ...MAKERS, ...(await ofKits("makers")) });
}

async function newMemory(agent: Api): Promise<string> {
  const memory = { title: "t", content: "c", type: "semantic", scope: "institutional" };
  return ok(await agent.post("/memories", memory)).id;
}

/** One that has come to its end: until then it changes by itself. */
async function newDocument(agent: Api): Promise<string> {
  const file = { file_content: "SGVsbG8=", filename: "hello.txt", mime_type: "text/plain" };
  const { document_id } = ok(await agent.post("/documents", file));
  await settle(async () => ok(await agent.get(`/documents/${document_id}`)).status === "stored");
  return document_id;
}

async function authorTemplate(agent: Api, slug: string): Promise<{ id: string; slug: string }> {
  const steps = [{ step_key: "a", completion_mode: "attestation" }];
  return ok(await agent.post("/process-templates", { name: slug, slug, steps }));
}

/** Issues a code for an agent and claims it, as its device does. */
async function claimDevice(admin: Api, agent_id: string): Promise<string> {
  const { user_code } = ok(await admin.post(`/agents/${agent_id}/device-code`, {}));
  const client_info = { name: "test-client", version: "1.0", host: "a-host" };
  return ok(await admin.post("/device-codes:claim", { user_code, client_info })).claim_id;
}

/** Connects a device to an agent. */
export async function connectDevice(admin: Api, agent_id: string): Promise<Connected> {
  const claim_id = await claimDevice(admin, agent_id);
  ok(await admin.post(`/agents/${agent_id}/device-code:confirm`, { claim_id, action: "approve" }));
  return ok(await admin.post("/device-codes:complete", { claim_id }));
}

/** Creates another resource of a kind. */
export async function makeId(kind: string, world: World): Promise<string> {
  const make = MAKERS[kind] ?? (await ofKits("makers"))[kind];
  if (!make)
    throw new Error(`no way to make a thing with an id ${kind}_…: add one to test/support/tenancy.ts`);
  return make(world);
}

function event(id: string) {
  return { specversion: "1.0", type: "com.example.tenancy", source: "urn:test", id, data: {} };
}

async function deadDelivery({ admin, agent, agentId }: World): Promise<string> {
  ok(await admin.patch(`/agents/${agentId}`, { retry_budget: 1, visibility_timeout_seconds: 3600 }));
  ok(await admin.post(`/agents/${agentId}/interests`, { event_type: "com.example.tenancy" }));
  ok(await agent.post("/events", event("dead")));
  const [delivery] = await settle(async () => {
    const { deliveries } = ok(await agent.get("/delivery/poll?wait=5"));
    return deliveries.length > 0 && deliveries;
  });
  const log = "a log\n[ended with 1]";
  ok(await agent.post("/delivery/nack", { delivery_ids: [delivery.id], reason: "a test", log }));
  return delivery.id;
}
