import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { operations } from "../../services/contracts.ts";
import { type Api, api } from "../support/http.ts";
import type { TestServer } from "../support/server.ts";
import { startShared } from "../support/shared.ts";
import { makeWorld, OPERATOR_TOKEN, type World } from "../support/tenancy.ts";

// Who may call sensitive operations, by hand: expectations that derive from the contracts would follow a mistake in them.

/** Callers, in this order: nobody, an agent with every scope but admin, one with admin, a member, an admin, the operator. */
const CALLERS = ["nobody", "agent", "adminAgent", "member", "admin", "operator"] as const;
type Name = (typeof CALLERS)[number];

/** `.` is refused with 401, 403 or 404 before anything else is looked at, `x` is let in. */
type Row = [route: string, by: string, body?: object];
type Case = [route: string, by: string, body: object | undefined];

const ROWS: Row[] = [
  // route                                      nobody agent adminAgent member admin operator
  ["POST /agents", "..x.x.", {}],
  ["GET /agents", "..x.x."],
  ["GET /.well-known/ai-catalog.json", ".xxxx."],
  ["PATCH /agents/:ag", "..x.x.", { name: "" }],
  ["PATCH /agents/:ag/status", "..x.x.", {}],
  ["POST /agents/:ag/signing-secret", "..x.x.", { unknown: 1 }],
  ["POST /agents/:ag/keys", "..x.x.", {}],
  ["GET /agents/:ag/keys", "..x.x."],
  ["DELETE /agents/:ag/keys/key_none", "..x.x."],
  ["PATCH /agents/:ag/keys/key_none", "..x.x.", { requests_per_minute: 0 }],
  ["POST /agents/:ag/device-code:confirm", "...xx.", {}],
  ["DELETE /agents/:ag/sessions/ses_none", "..x.x."],
  ["POST /users", "....x.", {}],
  ["PATCH /users/usr_none", "....x.", { role: "none" }],
  ["GET /users", "..x.x."],
  ["POST /teams", "..x.x.", {}],
  ["DELETE /teams/team_none", "..x.x."],
  ["GET /audit", "..x.x."],
  ["GET /audit/export?format=none", "..x.x."],
  ["POST /memories/erase", "....x.", {}],
  ["POST /memories/merge-proposals/none/resolve", "....x.", {}],
  ["PUT /approval-channels/slack", "....x.", {}],
  ["GET /approval-channels/slack", "....x."],
  ["DELETE /approval-channels/slack", "....x."],
  ["POST /ingest/webhooks", "..x.x.", {}],
  ["GET /ingest/webhooks", "..x.x."],
  ["GET /ingest/webhooks/whk_none/requests", "..x.x."],
  ["POST /ingest/webhooks/whk_none:rotate", "..x.x.", { unknown: 1 }],
  ["DELETE /ingest/webhooks/whk_none", "..x.x."],
  ["POST /ingest/connectors", "..x.x.", {}],
  ["DELETE /ingest/connectors/con_none", "..x.x."],
  ["POST /oauth/decision", "...xx.", {}],
  ["POST /auth/totp", "...xx.", {}],
  ["POST /tenants", ".....x", {}],
  ["GET /tenants", ".....x"],
  ["GET /tenants/usage", ".....x"],
  ["PATCH /tenants/tn_none", ".....x", {}],
  ["DELETE /tenants/tn_none", ".....x"],
];

// jest takes a missing last argument for a callback.
const CASES = ROWS.map(([route, by, body]): Case => [route, by, body]);

let server: TestServer;
let callers: Record<Name, Api>;
let stranger: World;
let world: World;

beforeAll(async () => {
  server = await startShared();
  world = await makeWorld(server, "callers");
  stranger = await makeWorld(server, "strangers");
  const all = ["send", "receive", "memory:read", "memory:write", "channel:read", "channel:write"];
  callers = {
    nobody: api(server),
    agent: api(server, await world.tokenWith(all)),
    adminAgent: world.agent,
    member: world.member,
    admin: world.admin,
    operator: api(server, OPERATOR_TOKEN),
  };
});
afterAll(() => server?.stop());

async function call(caller: Api, route: string, body?: object) {
  const [method = "", url = ""] = route.replace(":ag", world.agentId).split(" ");
  const path = url.startsWith("/.well-known/") ? server.root + url : url;
  const asked = {
    GET: caller.get,
    DELETE: caller.del,
    PATCH: caller.patch,
    POST: caller.post,
    PUT: caller.put,
  }[method] as Api["post"];
  const { status, body: answer } = await asked(path, body);
  return { status, code: answer?.error?.code as string | undefined, details: answer?.error?.details };
}

/** Whether the operation itself has answered: requests are made so that it finds something wrong with them, or reads. */
function isLetIn({ status, code, details }: Awaited<ReturnType<typeof call>>): boolean {
  if (status === 401 || code === "forbidden" || code === "insufficient_scope") return false;
  return !(status === 404 && details?.resource_type === undefined);
}

describe("a sensitive operation lets in those it should, and nobody else", () => {
  test.each(CASES)("%s: %s", async (route, by, body) => {
    let letIn = "";
    for (const name of CALLERS) letIn += isLetIn(await call(callers[name], route, body)) ? "x" : ".";
    expect(letIn).toBe(by);
  });

  test.each(CASES.filter(([route]) => route.includes(":ag")))(
    "%s is not found by another tenant's admin",
    async (route, _, body) => {
      const { status } = await call(stranger.admin, route, body);
      expect([400, 404]).toContain(status);
    },
  );
});

test("no approved connection gets a credential that outlives it", () => {
  const KNOWN = [
    // The new agent's own secret, of pushes to it.
    "agents.create",
    // A person has to approve the code.
    "devices.issue",
    // No new credential: it is the caller's own.
    "agents.set_status",
  ];
  const secret = operations.filter(
    ({ access, secret }) => secret && (access.by === "any" || access.by === "agent"),
  );
  expect(secret.length).toBeGreaterThan(4);
  expect(
    secret.filter(({ outlives, action }) => !outlives && !KNOWN.includes(action)).map(({ action }) => action),
  ).toEqual([]);
});
