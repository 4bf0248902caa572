import { expect, test } from "@jest/globals";
import { firstAgent } from "../support/agents.ts";
import { ok, refusal, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared("local");
const admin = await firstAgent(server);

const keysOf = (body: { projects: { key: string }[] }) => body.projects.map(({ key }) => key);

test("projects are listed by key whatever its case, by status and by the page", async () => {
  for (const key of ["delta", "Beta", "alpha", "Charlie"]) {
    expect(await admin.post("/projects", { key })).toMatchObject({
      status: 201,
      body: { key, name: key, status: "active", target_date: null, created_from_backfill: false },
    });
  }
  expect(keysOf(ok(await admin.get("/projects")))).toEqual(["alpha", "Beta", "Charlie", "delta"]);
  const page = ok(await admin.get("/projects?limit=2&offset=1"));
  expect([keysOf(page), page.total]).toEqual([["Beta", "Charlie"], 4]);
  const closed = ok(await admin.patch("/projects/delta", { status: "archived", target_date: "2026-12-31" }));
  expect(closed).toMatchObject({ name: "delta", status: "archived", target_date: "2026-12-31" });
  expect(keysOf(ok(await admin.get("/projects?status=archived")))).toEqual(["delta"]);
  expect(keysOf(ok(await admin.get("/projects?status=active")))).toEqual(["alpha", "Beta", "Charlie"]);
  expect(ok(await admin.patch("/projects/delta", { target_date: null }))).toMatchObject({
    ...{ id: closed.id, key: "delta", status: "archived", target_date: null },
  });
});

test("a key is there once in any case", async () => {
  const first = ok(await admin.post("/projects", { key: "once" }));
  const taken = { field: "key", existing_resource_id: first.id };
  for (const key of ["once", "ONCE"]) await refused(admin.post("/projects", { key }), "conflict", taken);
});

test.each(["/memories", "/outputs", "/runs"])(
  "a filter of %s by a project refuses an unknown key, and an id in its place",
  async (path) => {
    const { key, id } = ok(await admin.post("/projects", { key: `of${path.replace("/", "-")}` }));
    expect((await admin.get(`${path}?project_id=${key}`)).status).toBe(200);
    expect((await admin.get(`${path}?project_id=`)).status).toBe(200);
    for (const wrong of [id, "no-such-project"])
      await refused(admin.get(`${path}?project_id=${wrong}`), "validation_error", {
        field: "project_id",
        value: wrong,
      });
  },
);

test.each([
  ["post", "/projects", {}, 400, "validation_failed"],
  ["post", "/projects", { key: "" }, 400, "validation_failed"],
  ["post", "/projects", { key: "a b" }, 400, "validation_failed"],
  ["post", "/projects", { key: "0199c0de-7a11-7c3e-9f00-5a1b2c3d4e5f" }, 400, "validation_error"],
  ["post", "/projects", { key: "fine", status: "paused" }, 400, "validation_failed"],
  ["post", "/projects", { key: "fine", target_date: "soon" }, 400, "validation_failed"],
  ["patch", "/projects/a%20b", { name: "x" }, 400, "validation_error"],
  ["patch", "/projects/absent", { name: "x" }, 404, "not_found"],
  ["patch", "/projects/alpha", { status: "paused" }, 400, "validation_failed"],
  ["patch", "/projects/alpha", { name: "" }, 400, "validation_failed"],
] as const)("%s %s %j changes nothing", async (method, path, body, status, code) => {
  const before = ok(await admin.get("/projects"));
  expect(await admin[method](path, body)).toMatchObject(refusal(status, code));
  expect(ok(await admin.get("/projects"))).toEqual(before);
});
