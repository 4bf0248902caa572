import { describe, expect, test } from "@jest/globals";
import { byLogin } from "../../packages/client/authorize.ts";
import { createClient } from "../../packages/client/index.ts";
import { type Api, api } from "../support/http.ts";
import { makeWorld, ok, refusal } from "../support/tenancy.ts";
import { codeOf, wrongCode } from "../support/totp.ts";
import { useShared } from "../support/use.ts";

const required = refusal(401, "totp_required");
const refused = refusal(401, "authentication_failed", { reason: "code" });
const later = refusal(429, "rate_limited");

const server = await useShared();
const outside = api(server);
const world = await makeWorld(server, "factors");

interface Person {
  id: string;
  email: string;
  password: string;
  own: Api;
  secret: string;
  recovery: string[];
  login(code?: string): ReturnType<Api["post"]>;
}

let made = 0;

/** A person with a second factor. The current code is used up: that of the next step is not. */
async function personWithFactor(): Promise<Person> {
  const person = await newPerson();
  const { secret } = ok(await person.own.post("/auth/totp", { password: person.password }));
  const { recovery_codes } = ok(await person.own.post("/auth/totp/confirm", { code: codeOf(secret) }));
  return { ...person, secret, recovery: recovery_codes };
}

async function newPerson(): Promise<Omit<Person, "secret" | "recovery">> {
  const { id, email, password } = ok(
    await world.admin.post("/users", { email: `p${++made}@factors.example` }),
  );
  const login = (code?: string) => outside.post("/auth/login", { email, password, ...(code && { code }) });
  return { id, email, password, login, own: api(server, ok(await login()).access_token) };
}

test("setting up needs the password, and is in force only after a first code", async () => {
  const person = await newPerson();
  const wrong = await person.own.post("/auth/totp", { password: "not the password" });
  expect(wrong).toMatchObject(refusal(400, "validation_error", { field: "password" }));
  const { secret, uri } = ok(await person.own.post("/auth/totp", { password: person.password }));
  const address = new URL(uri);
  expect([address.protocol, address.host, decodeURIComponent(address.pathname)]).toEqual([
    "otpauth:",
    "totp",
    `/Sensorium:${person.email}`,
  ]);
  expect(address.searchParams.get("secret")).toBe(secret);
  expect((await person.login()).status).toBe(200);
  const early = await person.own.post("/auth/totp/confirm", { code: wrongCode(secret) });
  expect(early).toMatchObject(refusal(400, "validation_error", { field: "code" }));
  expect((await person.login()).status).toBe(200);
  const { recovery_codes } = ok(await person.own.post("/auth/totp/confirm", { code: codeOf(secret) }));
  expect(new Set(recovery_codes).size).toBe(10);
  expect(await person.login()).toMatchObject(required);
  expect((await person.login(codeOf(secret, 1))).status).toBe(200);
  expect(ok(await person.own.get("/auth/ways"))).toEqual({
    ...{ password: true, totp: { since: expect.any(String), recovery_codes_left: 10 }, identity: null },
  });
  const again = await person.own.post("/auth/totp", { password: person.password });
  expect(again).toMatchObject(refusal(409, "conflict"));
});

test("a second set-up replaces the secret that was not confirmed", async () => {
  const { own, password } = await newPerson();
  const first = ok(await own.post("/auth/totp", { password })).secret;
  const second = ok(await own.post("/auth/totp", { password })).secret;
  expect(second).not.toBe(first);
  expect((await own.post("/auth/totp/confirm", { code: codeOf(first) })).status).toBe(400);
  expect((await own.post("/auth/totp/confirm", { code: codeOf(second) })).status).toBe(200);
});

test("setting up shows the secret and the recovery codes once: neither is in an answer or the audit log later", async () => {
  const { own, secret, recovery, id } = await personWithFactor();
  const later = [
    ok(await own.get("/auth/ways")),
    ok(await world.admin.get("/users?limit=200")),
    ok(await world.admin.get(`/audit?actor_id=${id}`)),
  ].map((each) => JSON.stringify(each));
  for (const text of later) for (const each of [secret, ...recovery]) expect(text).not.toContain(each);
  expect(later[2]).toContain("auth.confirm_totp");
});

describe("signing in", () => {
  test("takes each code once, in any order of the concurrent ones", async () => {
    const { login, secret } = await personWithFactor();
    const code = codeOf(secret, 1);
    const statuses = await Promise.all(Array.from({ length: 3 }, async () => (await login(code)).status));
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(await login(code)).toMatchObject(refused);
    // Nor one before it.
    expect(await login(codeOf(secret))).toMatchObject(refused);
  });

  test("says nothing about the code to who does not know the password", async () => {
    const { email, secret } = await personWithFactor();
    const wrong = { email, password: "not the password" };
    const answers = await Promise.all([
      outside.post("/auth/login", wrong),
      outside.post("/auth/login", { ...wrong, code: codeOf(secret) }),
      outside.post("/auth/login", { ...wrong, email: "nobody@factors.example", code: "123456" }),
    ]);
    for (const answer of answers) expect(answer).toMatchObject(refusal(401, "authentication_failed"));
    expect(answers.map(({ body }) => body.error.details)).toEqual([{}, {}, {}]);
    expect(new Set(answers.map(({ body }) => body.error.message)).size).toBe(1);
  });

  test("by guessing is over after five wrong codes, however many at once, until a while later", async () => {
    const { login, secret, recovery } = await personWithFactor();
    const guesses = await Promise.all(Array.from({ length: 20 }, () => login(wrongCode(secret))));
    expect(guesses.filter(({ status }) => status === 401)).toHaveLength(5);
    for (const guess of guesses) expect(guess).toMatchObject(guess.status === 401 ? refused : later);
    // Even the right one is not tried.
    const right = await login(codeOf(secret, 1));
    expect(right).toMatchObject(later);
    expect(Number(right.headers.get("retry-after"))).toBeGreaterThan(20);
    // Their owner is not locked out.
    expect((await login(recovery[0])).status).toBe(200);
    expect((await login(codeOf(secret, 1))).status).toBe(200);
  });

  test("takes each recovery code once, however it is written", async () => {
    const { login, own, recovery } = await personWithFactor();
    const [first, second] = recovery as [string, string];
    expect((await login(first.toUpperCase().replaceAll("-", " "))).status).toBe(200);
    expect(await login(first)).toMatchObject(refused);
    const statuses = await Promise.all([login(second), login(second)]);
    expect(statuses.map(({ status }) => status).sort()).toEqual([200, 401]);
    expect(ok(await own.get("/auth/ways")).totp.recovery_codes_left).toBe(8);
  });

  test("of a browser needs it too, and a wrong one is noted", async () => {
    const { id, email, password, secret } = await personWithFactor();
    const start = (code?: string) =>
      outside.post("/auth/session", { email, password, ...(code && { code }) });
    expect(await start()).toMatchObject(required);
    expect(await start(wrongCode(secret))).toMatchObject(refused);
    expect((await start(codeOf(secret, 1))).headers.getSetCookie()[0]).toMatch(/^sensorium_session=ey/);
    const { entries } = ok(await world.admin.get(`/audit?resource_id=${id}&outcome=refused`));
    expect(entries).toMatchObject([{ action: "auth.login", details: { factor: "code" } }]);
  });

  test("by the client asks for a code each time", async () => {
    const { email, password, secret } = await personWithFactor();
    const codes = [codeOf(secret, 1), "not asked for"];
    const authorize = byLogin({ email, password, code: () => codes.shift() as string });
    const client = createClient({ url: server.url, authorize });
    expect((await client.auth.me()).user?.email).toBe(email);
    expect(codes).toHaveLength(1);
  });
});

test("removing needs the password or a recovery code", async () => {
  const { own, login, password, recovery, secret } = await personWithFactor();
  const remove = (body: object) => own.post("/auth/totp/remove", body);
  for (const body of [
    {},
    { password, recovery_code: recovery[0] },
    { password: "not it" },
    { recovery_code: "no" },
  ])
    expect(await remove(body)).toMatchObject(refusal(400, "validation_error"));
  expect((await remove({ recovery_code: codeOf(secret) })).status).toBe(400);
  expect((await remove({ recovery_code: recovery[3] })).status).toBe(204);
  expect((await login()).status).toBe(200);
  const second = ok(await own.post("/auth/totp", { password })).secret;
  ok(await own.post("/auth/totp/confirm", { code: codeOf(second) }));
  expect(await login()).toMatchObject(required);
  expect((await remove({ password })).status).toBe(204);
  expect((await login()).status).toBe(200);
});

test("removing for another person is for admins of the tenant", async () => {
  const { id, login } = await personWithFactor();
  const other = await makeWorld(server, "others");
  const body = { reset_totp: true };
  expect((await other.admin.patch(`/users/${id}`, body)).status).toBe(404);
  expect((await world.member.patch(`/users/${id}`, body)).status).toBe(403);
  expect((await world.agent.patch(`/users/${id}`, body)).status).toBe(403);
  expect(await login()).toMatchObject(required);
  const found = ok(await world.admin.get("/users?limit=200")).users.find(
    (user: { id: string }) => user.id === id,
  );
  expect(found.sign_in).toEqual(["password", "totp"]);
  expect(ok(await world.admin.patch(`/users/${id}`, body)).sign_in).toEqual(["password"]);
  expect((await login()).status).toBe(200);
});
