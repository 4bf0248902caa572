import { expect, test } from "@jest/globals";
import type { Access } from "../../lib/contract/contract.ts";
import { operations } from "../../services/contracts.ts";
import { makeTools } from "../../services/edge/mcp/tools.ts";
import { ACCESS, type Who } from "../support/access-table.ts";
import { loadKits } from "../support/kits.ts";

/** Each access that a contract can have, as the table writes it. */
const WHO: [Who, Access][] = [
  ["everyone", { by: "any" }],
  ["agents+admins", { by: "any", people: "org_admin" }],
  ["agents", { by: "agent" }],
  ["agents", { by: "agent", otherwise: "forbidden" }],
  ["agents/400", { by: "agent", otherwise: "validation_error" }],
  ["agents/401", { by: "agent", otherwise: "authentication_failed" }],
  ["people", { by: "user" }],
  ["org-admins", { by: "org_admin" }],
  ["public", { by: "public" }],
  ["public?", { by: "public", identified: true }],
  ["operator", { by: "operator" }],
  ["monitor", { by: "monitor" }],
];
const sorted = (access: object) => JSON.stringify(Object.entries(access).sort());
const KNOWN = new Map(WHO.map(([who, access]) => [sorted(access), who]));

test("every operation is in the table of who may call it, and every line of the table is an operation", () => {
  const tools = makeTools(operations);
  const declared = operations.map(({ action, access: given, method, root, url }) => {
    const { scope = "-", ...access } = given as Access & { scope?: string };
    const tool = tools.has(action.replace(".", "_")) ? "tool" : "";
    const who = KNOWN.get(sorted(access)) ?? sorted(access);
    return [action, who, scope, tool, method, `${root ? "" : "/v1"}${url}`].join(" ");
  });
  const expected = ACCESS.map(({ action, who, scope, isTool, method, path }) =>
    [action, who, scope ?? "-", isTool ? "tool" : "", method, path].join(" "),
  );
  expect(declared.toSorted()).toEqual(expected.toSorted());
  expect(tools.size).toBe(ACCESS.filter(({ isTool }) => isTool).length);
});

test("a connection that a person approved gets no credential that outlives it", async () => {
  const OUTLIVING = [
    ...["agents.rotate_signing_secret", "ingest.create_webhook", "ingest.rotate_webhook"],
    ...["keys.create", "keys.update"],
    ...(await loadKits()).flatMap(({ outlives = [] }) => outlives),
  ].sort();
  // The new agent's own secret, of pushes to it, and a code that a person has to approve.
  const OWN = ["agents.create", "devices.issue"];
  const named = (isIt: (operation: (typeof operations)[number]) => unknown) =>
    operations.filter(isIt).map(({ action }) => action);
  expect(named(({ outlives }) => outlives).toSorted()).toEqual(OUTLIVING);
  const forAgents = named(({ access, secret }) => secret && (access.by === "any" || access.by === "agent"));
  expect(forAgents.filter((action) => !OUTLIVING.includes(action)).toSorted()).toEqual(OWN);
});

test("tries of passwords, codes and answers of the identity provider are limited before they are checked", () =>
  expect(operations.filter(({ tries }) => tries).map(({ action }) => action)).toEqual([
    ...["auth.login", "auth.password", "auth.start_session", "auth.finish_oidc"],
    ...["auth.begin_totp", "auth.confirm_totp", "auth.remove_totp"],
  ]));
