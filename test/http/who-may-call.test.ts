import { expect, test } from "@jest/globals";
import type { Operation } from "../../lib/contract/contract.ts";
import { operations } from "../../services/contracts.ts";
import { ACCESS, type AccessRow, type Who } from "../support/access-table.ts";
import { ask, idsOf } from "../support/holdings.ts";
import { agentToken } from "../support/http.ts";
import { loadKits } from "../support/kits.ts";
import { makeWorld, OPERATOR_TOKEN, ok, refused, signIn } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const SCOPES = ["send", "receive", "memory:read", "memory:write", "channel:read", "channel:write", "admin"];

/**
 * The answer to each caller, in this order: nobody, a wrong token, an agent with every scope but this one and admin, an agent
 * with this one alone, an agent with admin, a member, an admin, the operator.
 *
 * `+`: the operation looks at the request. `a`: 401. `s`: 403 that names the scope. `f`: 403. `p`: 401 that says that an
 * agent is needed. `v`: 400 that says so. `.`: below.
 */
const ANSWERS: Record<Who, string> = {
  ...{ everyone: "aas++++a", "agents+admins": "aas++.+a", agents: "aas++ffa", "agents/400": "aas++vva" },
  ...{ "agents/401": "aas++ppa", people: "aafff++a", "org-admins": "aaffff+a", public: "++++++++" },
  ...{ "public?": "+a+++++a", operator: "aaaaaaa+", monitor: "++++++++" },
};

/** These take another body than an object with named fields. */
const OTHER_BODIES = [
  ...(await loadKits()).flatMap(({ otherBodies = [] }) => otherBodies),
  ...["events.publish", "gateway.mcp", "ingest.receive", "ingest.receive_from", "oauth.device"],
  ...["oauth.register", "oauth.revoke", "oauth.token"],
];

/** Public, with a signature instead of a token, which these requests lack. */
const SIGNED = [
  ...(await loadKits()).flatMap(({ signed = [] }) => signed),
  ...["ingest.receive", "ingest.receive_from"],
];

const agents = new Map<string, string>();

const server = await useShared("local");
const world = await makeWorld(server, "callers");
// One agent with a key for each: an agent for each would be many that everything looks at.
const keyOf = async (scopes: string[]) =>
  agentToken(server, ok(await world.admin.post(`/agents/${world.agentId}/keys`, { scopes })).key);
for (const scope of SCOPES) {
  agents.set(scope, await keyOf([scope]));
  agents.set(`not ${scope}`, await keyOf(SCOPES.filter((each) => each !== scope && each !== "admin")));
}
const member = { email: `second@${world.slug}.example` };
const invited = { ...member, password: ok(await world.admin.post("/users", member)).password };
const people = await signInBoth();

async function signInBoth() {
  const [member, admin] = [invited, world.credentials].map((each) => signIn(server, each, world.slug));
  return { member: (await member) as string, admin: (await admin) as string };
}

/** Sends a request that the operation answers without an effect: a body has a key that no resource has. */
async function send({ method, path }: AccessRow, token: string | null): Promise<Response> {
  const headers = new Headers(token ? { authorization: `Bearer ${token}` } : {});
  const hasBody = ["POST", "PUT", "PATCH"].includes(method);
  if (hasBody) headers.set("content-type", "application/json");
  const body = hasBody ? { body: JSON.stringify({ nobody_knows: { this: 1 } }) } : {};
  return fetch(server.root + path.replaceAll(/\{\w+\}/g, "some"), { method, headers, ...body });
}

async function readAnswer({ action, method, scope }: AccessRow, response: Response): Promise<string> {
  const { status, headers } = response;
  const isStream = headers.get("content-type")?.startsWith("text/event-stream");
  const text = isStream ? await response.body?.cancel() : await response.text();
  const isJson = headers.get("content-type")?.startsWith("application/json");
  const answer = isJson && text ? JSON.parse(text) : {};
  const { code, details = {} } = answer.error ?? {};
  if (status === 401 && headers.has("www-authenticate"))
    return details.reason === "agent_identity_required"
      ? "p"
      : `${code === "authentication_failed" ? "a" : code}`;
  if (code === "insufficient_scope") return details.required_scope === scope ? "s" : details.required_scope;
  if (answer.error_code === "permission_denied") return "s";
  if (code === "forbidden") return "f";
  if (details.field === "authorization") return "v";
  if (["GET", "DELETE", "OPTIONS"].includes(method) || OTHER_BODIES.includes(action)) return "+";
  return details.field === "nobody_knows" && typeof details.expected === "string" ? "+" : `${status} ${code}`;
}

/** Names for tests: two operations have several paths. */
const named = (rows: AccessRow[]) => rows.map((row) => [`${row.method} ${row.path}`, row] as const);

test.each(named(ACCESS))("who may call %s", async (_, row) => {
  const { member, admin } = row.action === "auth.end_session" ? await signInBoth() : people;
  // Events are read by who may send, and by who may receive.
  const scope = row.scope ?? "send";
  const callers = [null, "nonsense", agents.get(`not ${scope}`), agents.get(scope), agents.get("admin")];
  let answers = "";
  for (const token of [...callers, member, admin, OPERATOR_TOKEN])
    answers += await readAnswer(row, await send(row, token ?? null));
  expect(answers.replace(/(?<=^.{5})./, (of) => (expected(row)[5] === "." ? "." : of))).toBe(expected(row));
});

const ofAdmins = ACCESS.filter(({ who }) => who === "agents+admins");
test.each(named(ofAdmins))("who may call %s: no member, whosever it is", async (_, { action }) => {
  const op = operations.find((each) => each.action === action) as Operation;
  const answer = await ask(server.root, world.member, op, await idsOf(op, world));
  await refused(answer, "forbidden");
});

function expected({ action, who, scope }: AccessRow): string {
  if (SIGNED.includes(action)) return "aaaaaaaa";
  const answers = scope ? ANSWERS[who] : ANSWERS[who].replace("s", "+");
  // Members have every other scope.
  return scope === "admin" ? answers.replace("++++", "++s+") : answers;
}
