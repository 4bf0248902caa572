import { expect, test } from "@jest/globals";
import { type Action, mayCall } from "../../packages/console/src/data/may.ts";

// The page's address, which the browser has.
Object.assign(globalThis, { location: { origin: "http://127.0.0.1" } });
// Not typed here: it needs the browser's types.
const FILE = "../../packages/console/src/data/api.ts";
const { inSession, setSession } = await import(FILE);

const sessionOf = (id: string, csrf_token: string) => ({ user: { id }, csrf_token });

/** Sends a request that is refused with 401; `meanwhile` happens before. Returns its status and what was sent. */
async function send(meanwhile: () => void) {
  const sent: (string | null)[] = [];
  setSession(sessionOf("usr_1", "old"));
  const fetched = inSession(async (_: unknown, init: RequestInit) => {
    sent.push(new Headers(init.headers).get("x-csrf-token"));
    if (sent.length > 1) return new Response("{}");
    meanwhile();
    return new Response("{}", { status: 401 });
  });
  const { status } = await fetched("/v1/memories", { headers: { "X-CSRF-Token": "old" } });
  return { status, sent };
}

test("a request that was refused before the same person signed in again is resent with the new token", async () => {
  const renewed = () => setSession(sessionOf("usr_1", "new"));
  expect(await send(renewed)).toEqual({ status: 200, sent: ["old", "new"] });
});

test.each([
  ["nobody has signed in since", () => {}],
  ["somebody else has", () => setSession(sessionOf("usr_2", "new"))],
  ["the person has signed out", () => setSession(undefined)],
])("its refusal stands where %s", async (_, meanwhile) =>
  expect(await send(meanwhile)).toEqual({ status: 401, sent: ["old"] }),
);

test.each<[Action, admin: boolean, member: boolean]>([
  ["auth.startSession", true, true],
  ["auth.password", true, true],
  ["runs.create", true, true],
  ["agents.get", true, true],
  ["agents.create", true, false],
  ["merges.resolve", true, false],
  ["interests.list", true, false],
  ["deliveries.deadLetters", true, false],
  ["deliveries.poll", false, false],
  ["handoffs.save", false, false],
  ["tenants.create", false, false],
])("%s is offered to admins: %j, to members: %j", (action, admin, member) =>
  expect([mayCall("admin", action), mayCall("member", action)]).toEqual([admin, member]),
);
