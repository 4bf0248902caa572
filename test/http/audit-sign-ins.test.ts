import { expect, test } from "@jest/globals";
import { api, type Json } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, ok } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared();
const outside = api(server);
const world = await makeWorld(server, "signing-in");
const other = await makeWorld(server, "signing-in-too");

const entriesOf = async (user: { id: string }, of = world): Promise<Json[]> =>
  ok(await of.admin.get(`/audit?resource_id=${user.id}`)).entries.filter(({ action }: { action: string }) =>
    action.startsWith("auth."),
  );
const invite = async (email: string, of = world) => ok(await of.admin.post("/users", { email }));

test("signing in and out is noted: who, from where and how", async () => {
  const user = await invite("ada@signing-in.example");
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
  const elsewhere = await invite("bob@signing-in.example", other);
  const user = await invite("bob@signing-in.example");
  const of = { password: "a wrong password", tenant_slug: world.slug };
  const attempt = { ...of, email: "Bob@signing-in.example" };
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
  const email = "carol@signing-in.example";
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
