import { describe, expect, test } from "@jest/globals";
import { api } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { ok, refusal, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared();
const outside = api(server);

async function signIn() {
  const { status, headers, body } = await outside.post("/auth/session", server.credentials.admin);
  expect(status).toBe(200);
  const [set = ""] = headers.getSetCookie();
  return { set, cookie: set.split(";")[0] as string, csrf: body.csrf_token as string, body };
}

describe("the session of a browser", () => {
  test("is a cookie that no script can read and no other site sends, for the user and with one CSRF token", async () => {
    const { set, cookie, csrf, body } = await signIn();
    expect(set).toMatch(/^sensorium_session=ey[\w.-]+; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Strict$/);
    // No token is in the body.
    expect(Object.keys(body).sort()).toEqual(["csrf_token", "expires_at", "tenant", "user"]);
    const me = ok(await outside.get("/auth/session", { cookie }));
    const expected = { csrf_token: csrf, user: { email: server.credentials.admin.email, role: "admin" } };
    expect(me).toMatchObject(expected);
  });

  test("changes something only with its own CSRF token", async () => {
    const [{ cookie, csrf }, other] = [await signIn(), await signIn()];
    const create = (headers: Record<string, string>) =>
      outside.post("/channels", { name: `c ${Math.random()}` }, { cookie, ...headers });
    expect(await create({})).toMatchObject(refusal(403, "forbidden"));
    expect(await create({ "x-csrf-token": other.csrf })).toMatchObject(refusal(403, "forbidden"));
    const { id } = ok(await create({ "x-csrf-token": csrf }));
    const own = `/channels/${id}`;
    for (const refused of [await outside.del(own, { cookie }), await outside.patch(own, {}, { cookie })])
      expect(refused).toMatchObject(refusal(403, "forbidden"));
    expect((await outside.del(own, { cookie, "x-csrf-token": csrf })).status).toBe(204);
  });

  test("counts for pages of this origin only", async () => {
    const { cookie, csrf } = await signIn();
    const from = (site: string) =>
      outside.get("/channels", { cookie, "x-csrf-token": csrf, "sec-fetch-site": site });
    expect(await from("cross-site")).toMatchObject(refusal(403, "forbidden"));
    expect(await from("same-site")).toMatchObject(refusal(403, "forbidden"));
    expect(await from("same-origin")).toMatchObject({ status: 200 });
  });

  test("continues when renewed, and ends on signing out", async () => {
    const { cookie, csrf } = await signIn();
    const renewed = await outside.post("/auth/session/renew", {}, { cookie, "x-csrf-token": csrf });
    const next = renewed.headers.get("set-cookie")?.split(";")[0] as string;
    expect(next).not.toBe(cookie);
    const fields = { cookie: next, "x-csrf-token": renewed.body.csrf_token };
    const left = await outside.del("/auth/session", fields);
    const expected = [200, expect.stringMatching(/^sensorium_session=; Path=\/; Expires=Thu, 01 Jan 1970/)];
    expect([left.status, left.headers.get("set-cookie")]).toEqual(expected);
    await settle(async () => (await outside.get("/auth/session", { cookie: next })).status === 401);
    // The cookie of before the renewal is of the same session.
    await settle(async () => (await outside.get("/auth/session", { cookie })).status === 401);
    expect((await outside.post("/auth/session/renew", {}, { cookie, "x-csrf-token": csrf })).status).toBe(
      401,
    );
  });

  test("a wrong password is refused as at any login", async () => {
    const wrong = { ...server.credentials.admin, password: "wrong" };
    expect(await outside.post("/auth/session", wrong)).toMatchObject(refusal(401, "authentication_failed"));
  });
});

describe("the console's files", () => {
  const page = (path: string, accept = "text/html") => outside.get(server.root + path, { accept });

  test("its page is served at the root and its routes, under a policy without exceptions", async () => {
    for (const path of ["/", "/agents/ag_1", "/connect?code=BCDF-2345"]) {
      const { headers, body } = await page(path);
      expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(body).toContain("<title>Sensorium</title>");
      const policy = headers.get("content-security-policy") as string;
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy).not.toContain("unsafe");
    }
  });

  test("they hide no 404: of the API, of files, of what asks for JSON, of what lies elsewhere", async () => {
    for (const path of ["/v1/nothing", "/assets/none.js", "/docs/none", "/assets/%2e%2e/%2e%2e/package.json"])
      await refused(page(path), "not_found");
    await refused(page("/agents", "application/json"), "not_found");
    await refused(outside.post(`${server.root}/agents`, {}), "not_found");
  });
});

test("statistics count what happens, and the stream of them begins at once", async () => {
  const { cookie, csrf } = await signIn();
  const event = { specversion: "1.0", id: "live-1", source: "urn:t", type: "com.example.live", data: {} };
  ok(await outside.post("/events", event, { cookie, "x-csrf-token": csrf }));
  const stats = await settle(async () => {
    const now = ok(await outside.get("/stats", { cookie }));
    // A node that does not answer at once counts for nothing.
    return now.series.published.some((count: number) => count > 0) && now;
  });
  expect(stats.series.published.reduce((sum: number, count: number) => sum + count, 0)).toBe(1);
  expect(stats).toMatchObject({ recent: [{ type: "com.example.live" }], health: { status: "ready" } });
  const stream = await fetch(`${server.url}/live`, { headers: { cookie } });
  const reader = (stream.body as ReadableStream<Uint8Array>).getReader();
  const { value } = await reader.read();
  expect(new TextDecoder().decode(value)).toMatch(/^event: stats\ndata: \{"at":/);
  await reader.cancel();
});
