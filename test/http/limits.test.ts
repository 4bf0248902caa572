import { afterEach, expect, test } from "@jest/globals";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { api } from "../support/http.ts";
import { things } from "../support/things.ts";

let gateway: TestGateway;

afterEach(() => gateway.stop());

async function start(env: Record<string, string>) {
  const domain = things();
  gateway = await startGateway({ operations: domain.operations, services: [domain.service], env });
  return domain;
}

const limitOf = (headers: Headers) => Number(headers.get("x-ratelimit-limit"));
const leftOf = (headers: Headers) => Number(headers.get("x-ratelimit-remaining"));

test("the limit of a caller is counted down on every answer, and then refuses without doing anything", async () => {
  const domain = await start({ RATE_LIMIT_PER_MINUTE: "4" });
  const ann = api(gateway, "ann");
  const before = Date.now() / 1000;
  const answers = [
    await ann.post("/things", { name: "one" }),
    await ann.post("/things", {}),
    await ann.get("/things/ch_1"),
    await api(gateway, "ann").post("/things/people"),
    await ann.post("/things", { name: "two" }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([201, 400, 404, 403, 429]);
  expect(answers.map(({ headers }) => limitOf(headers))).toEqual([4, 4, 4, 4, 4]);
  expect(answers.map(({ headers }) => leftOf(headers))).toEqual([3, 2, 1, 0, 0]);
  for (const { headers } of answers) {
    const resets = Number(headers.get("x-ratelimit-reset"));
    expect(resets).toBeGreaterThan(before);
    expect(resets).toBeLessThanOrEqual(Date.now() / 1000 + 61);
  }
  const { body, headers } = answers[4] as (typeof answers)[0];
  expect(body.error.code).toBe("rate_limited");
  expect(body.error.details).toMatchObject({ limit: 4, window_seconds: 60 });
  expect(body.error.details.retry_after_seconds).toBeGreaterThan(0);
  expect(body.error.details.retry_after_seconds).toBeLessThanOrEqual(60);
  expect(headers.get("retry-after")).toBe(String(body.error.details.retry_after_seconds));
  expect(domain.made).toEqual(["one"]);
});

test("the limit of a caller is each caller's own, and does not concern those who are not known", async () => {
  await start({ RATE_LIMIT_PER_MINUTE: "1" });
  const statuses = [];
  for (const name of ["ann", "bob", "cyd", "ada", "ann"])
    statuses.push((await api(gateway, name).get("/things/ch_1")).status);
  expect(statuses).toEqual([404, 403, 404, 404, 429]);
  for (const token of [undefined, undefined, undefined, "eve", "eve", "eve"]) {
    const refused = await api(gateway, token).get("/things");
    expect([refused.status, refused.headers.get("x-ratelimit-limit")]).toEqual([401, null]);
  }
});

test("the limit of a caller is off at 0, and no header speaks of it", async () => {
  await start({ RATE_LIMIT_PER_MINUTE: "0" });
  const { status, headers } = await api(gateway, "ann").get("/things");
  expect([status, headers.get("x-ratelimit-limit")]).toEqual([200, null]);
});

test("the limit of a tenant is shared by its callers, and tells when it is the tighter one", async () => {
  await start({ RATE_LIMIT_PER_MINUTE: "3", TENANT_RATE_LIMIT_PER_MINUTE: "4" });
  const asked = [];
  for (const name of ["ann", "ann", "ada", "ada", "ada", "cyd"]) {
    const { status, headers } = await api(gateway, name).get("/things");
    asked.push([name, status, limitOf(headers), leftOf(headers)]);
  }
  expect(asked).toEqual([
    ["ann", 200, 3, 2],
    ["ann", 200, 3, 1],
    ["ada", 200, 4, 1],
    ["ada", 200, 4, 0],
    ["ada", 429, 4, 0],
    ["cyd", 200, 3, 2],
  ]);
});
