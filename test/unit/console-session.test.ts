import { expect, test } from "@jest/globals";

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
