import { createHash } from "node:crypto";
import { expect, test } from "@jest/globals";
import { ABSENT, makeWorld, ok, refusal, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared();
const world = await makeWorld(server, "outputs");

const save = (more: object, headers = {}) =>
  world.agent.post("/outputs", { body: "# Title\n\nText.", ...more }, headers);
test("a text comes back byte for byte, by id and by slug", async () => {
  const body = '﻿# Café "quotes" \\ \u0000\u2028 𝄞\r\n\r\nEnd without a newline \t';
  const saved = await save({ body, scope: "institutional", metadata: { $set: { "a.b": [1] } } });
  expect(saved).toMatchObject({
    status: 201,
    body: { body, slug: "café-quotes", title: 'Café "quotes" \\ 𝄞' },
  });
  const { id, slug, content_hash, byte_size } = saved.body;
  expect(content_hash).toBe(createHash("sha256").update(body).digest("hex"));
  expect(byte_size).toBe(Buffer.byteLength(body));
  for (const name of [id, id.toUpperCase(), encodeURIComponent(slug)])
    expect(ok(await world.agent.get(`/outputs/${name}`))).toEqual(saved.body);
  expect(saved.body).toMatchObject({ metadata: { $set: { "a.b": [1] } }, current_version_num: 1, tags: [] });
});

test("a long text comes and goes whole, as JSON and as Markdown", async () => {
  const body = `# Long\n${'é"\\\n𝄞'.repeat(200_000)}`;
  const saved = await save({ body });
  expect(saved.body.body).toBe(body);
  const query = "title=As%20text&derived_from_ids=long,absent&project_id=";
  const type = { "content-type": "text/markdown; charset=utf-8" };
  const text = await world.agent.post(`/outputs?${query}`, body, type);
  expect(text).toMatchObject({
    status: 201,
    body: { title: "As text", content_hash: saved.body.content_hash, derived_from_ids: [saved.body.id] },
  });
  expect(ok(await world.agent.get(`/outputs/${text.body.id}`)).body).toBe(body);
});

test("repeated under its key it is saved once, and answered whole again", async () => {
  const body = `# Once\n${"long ".repeat(100_000)}`;
  const key = { "idempotency-key": "save-once" };
  const [first, again] = [await save({ body }, key), await save({ body }, key)];
  expect(again.headers.get("idempotency-replayed")).toBe("true");
  expect(again.body).toEqual(first.body);
  await refused(save({ body: `${body}!` }, key), "conflict");
  const version = { output_id: first.body.id, body: "second" };
  const second = await save(version, { "idempotency-key": "v2" });
  expect((await save(version, { "idempotency-key": "v2" })).body).toEqual(second.body);
  expect(second.body.current_version_num).toBe(2);
});

test("slugs are the tenant's own, and never an id or what stands in an id's place", async () => {
  const slugs = await Promise.all([1, 2, 3, 4].map(async () => ok(await save({ title: "Same Title" })).slug));
  expect(new Set(slugs).size).toBe(4);
  expect(slugs).toContain("same-title");
  expect(ok(await save({ title: ABSENT })).slug).toBe(`output-${ABSENT}`);
  const { id, slug } = ok(await save({ title: "Search" }));
  expect(slug).toBe("output-search");
  expect(ok(await world.agent.get(`/outputs/${slug}`)).id).toBe(id);
  await refused(world.agent.get(`/outputs/${ABSENT}`), "not_found");
});

test("versions are kept as they were, newest first", async () => {
  const { id, slug } = ok(await save({ body: "# One\n", scope: "institutional", source_type: "report" }));
  const two = ok(await save({ output_id: slug, body: "# Two\n", change_note: "rewritten" }));
  expect(two).toMatchObject({ id, slug, title: "Two", current_version_num: 2, source_type: "report" });
  const three = await world.member.post("/outputs", { output_id: id, body: "three", title: "Named" });
  expect(three).toMatchObject({
    status: 201,
    body: { title: "Named", agent_id: world.agentId, user_id: null },
  });
  const { versions } = ok(await world.agent.get(`/outputs/${id}/versions`));
  expect(versions).toMatchObject([
    { version_num: 3, title: "Named", body: null, authored_by_agent_id: null },
    { version_num: 2, change_note: "rewritten", authored_by_agent_id: world.agentId, body: null },
    { version_num: 1, title: "One", body: null },
  ]);
  for (const [n, body] of [
    [1, "# One\n"],
    [2, "# Two\n"],
    [3, "three"],
  ] as const) {
    expect(ok(await world.agent.get(`/outputs/${id}/versions/${n}`))).toMatchObject({ version_num: n, body });
    expect(ok(await world.agent.get(`/outputs/${id}?version=${n}`))).toMatchObject({
      body,
      current_version_num: 3,
    });
  }
  const byId = await world.agent.get(`/outputs/${id}/versions/${versions[2].id}`);
  expect(byId.body).toMatchObject({ version_num: 1, body: "# One\n" });
  const fourth = await world.agent.get(`/outputs/${id}?version=4`);
  await refused(fourth, "not_found");
  expect(fourth.body.error.message).toContain("no version 4 of the output. The latest is 3");
  for (const absent of ["4", "-".repeat(36), "9".repeat(36)])
    await refused(world.agent.get(`/outputs/${id}/versions/${absent}`), "not_found");
  await refused(world.agent.get(`/outputs/${id}?version=0`), "validation_failed");
});

test("versions saved at once take back nothing of each other, nor of who files the output elsewhere", async () => {
  const project_id = ok(await world.admin.post("/projects", { key: "filed-at-once", name: "F" })).key;
  const referred = ok(await save({ title: "Referred to" })).id;
  for (let round = 0; round < 12; round++) {
    const { id } = ok(await save({ title: "Before" }));
    const given = {
      ...{ title: "After", references_ids: [referred], metadata: { by: "one" }, source_type: "memo" },
    };
    const answers = await Promise.all([
      save({ output_id: id, body: "plain" }),
      save({ output_id: id, body: "with more", ...given }),
      save({ output_id: id, body: "plain too" }),
      world.agent.patch(`/outputs/${id}`, { project_id }),
    ]);
    for (const answer of answers) ok(answer);
    const { title, references_ids, metadata, source_type, ...more } = ok(
      await world.agent.get(`/outputs/${id}`),
    );
    expect({ title, references_ids, metadata, source_type }).toEqual(given);
    expect(more).toMatchObject({ project_id, current_version_num: 4 });
  }
});

test("versions saved at once get distinct numbers", async () => {
  const { id } = ok(await save({ body: "start" }));
  const bodies = Array.from({ length: 12 }, (_, i) => `text ${i}`);
  await Promise.all(bodies.map(async (body) => ok(await save({ output_id: id, body }))));
  const { versions } = ok(await world.agent.get(`/outputs/${id}/versions`));
  expect(versions.map(({ version_num }: { version_num: number }) => version_num)).toEqual(
    Array.from({ length: 13 }, (_, i) => 13 - i),
  );
  const texts = await Promise.all(
    versions.map(
      async (each: { id: string }) => ok(await world.agent.get(`/outputs/${id}/versions/${each.id}`)).body,
    ),
  );
  expect(texts.sort()).toEqual([...bodies, "start"].sort());
});

test.each<[string, object, number, string, object?]>([
  ["no text", { body: undefined }, 400, "validation_failed", { field: "body" }],
  ["an empty text", { body: "" }, 400, "validation_failed", { field: "body" }],
  ["half a character", { body: "\ud800" }, 400, "validation_failed"],
  ["an unknown scope", { scope: "world" }, 400, "validation_failed", { field: "scope" }],
  ["an unknown project", { project_id: "nowhere" }, 400, "validation_error", { field: "project_id" }],
  ["an unknown run", { process_run_id: ABSENT }, 400, "validation_error", { field: "process_run_id" }],
  ["a note without an output", { change_note: "n" }, 400, "validation_error", { field: "change_note" }],
  ["a team with another scope", { team_id: "team_x" }, 400, "validation_error", { field: "team_id" }],
  ["the scope team without a team", { scope: "team" }, 400, "validation_error", { field: "team_id" }],
  ["an unknown output", { output_id: ABSENT }, 404, "not_found", { resource_type: "output" }],
  ["an unknown slug", { output_id: "nobody-has-this" }, 404, "not_found", { resource_type: "output" }],
])("refused with %s", async (_, more, status, code, details = {}) => {
  const total = async () => ok(await world.agent.get("/outputs")).total;
  const before = await total();
  expect(await save(more)).toMatchObject(refusal(status, code, details));
  expect(await total()).toBe(before);
});

test("a text that is no UTF-8 is refused, and an operator may set a limit", async () => {
  const bytes = new Uint8Array([0x23, 0x20, 0xff]);
  const type = { "content-type": "text/markdown" };
  const example = "# Release notes\n";
  await refused(world.agent.post("/outputs", bytes, type), "validation_failed", { field: "body", example });
  const latin = { "content-type": "text/markdown; charset=iso-8859-1" };
  await refused(world.agent.post("/outputs", "x", latin), "unsupported_media_type");
});

test("links name outputs by id or slug; what cannot be resolved is left out", async () => {
  const old = ok(await save({ body: "# Old thing" }));
  const links = {
    derived_from_ids: [old.slug, ABSENT, "nothing"],
    references_ids: [`${old.id}, ${old.slug}`],
  };
  const made = ok(await save({ body: "# New thing", ...links, supersedes_ids: [old.id] }));
  expect(made).toMatchObject({
    ...{ derived_from_ids: [old.id], references_ids: [old.id], supersedes_ids: [old.id] },
  });
  expect(ok(await world.agent.get(`/outputs/${old.id}`)).superseded_by).toBe(made.id);
  expect((await world.agent.del(`/outputs/${made.id}`)).status).toBe(204);
  await refused(world.agent.get(`/outputs/${made.id}`), "not_found");
});
