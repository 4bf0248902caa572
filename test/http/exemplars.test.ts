import { expect, test } from "@jest/globals";
import { makeWorld, ok, refusal, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared();
const world = await makeWorld(server, "exemplars");

const keep = (content: string, more: object = {}) =>
  world.agent.post("/exemplars", { display_name: "An example", filename: "note.md", content, ...more });

test("a text is kept verbatim, read, renamed and deleted", async () => {
  const content = "# Caf\u00e9 \u{1f600}\r\n\ttext \u0000 \n";
  const made = await keep(content);
  expect(made).toMatchObject({
    status: 201,
    body: {
      ...{ display_name: "An example", original_filename: "note.md", media_type: "text/markdown" },
      ...{ byte_size: Buffer.byteLength(content), extraction_status: "ready", extracted_text: content },
      extraction_error: null,
    },
  });
  const { id } = made.body;
  expect(await world.agent.get(`/exemplars/${id}`)).toMatchObject({ status: 200, body: made.body });
  const renamed = ok(await world.agent.patch(`/exemplars/${id}`, { display_name: "Better" }));
  expect(renamed).toEqual({ ...made.body, display_name: "Better", updated_at: expect.any(String) });
  expect(ok(await world.agent.get("/exemplars"))).toEqual([{ ...renamed, extracted_text: null }]);
  expect((await world.agent.del(`/exemplars/${id}`)).status).toBe(204);
  await refused(world.agent.get(`/exemplars/${id}`), "not_found");
});

test("the same text is kept once, also when sent at once", async () => {
  const six = Array.from({ length: 6 }, (_, i) => keep("same", { filename: `${i}.txt` }));
  const answers = await Promise.all(six);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 201]);
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  expect(answers[0]?.body.media_type).toBe("text/plain");
});

test("is not deleted while a run or a step refers to it", async () => {
  const { id } = ok(await keep("referred to"));
  const pointer = { provider: "exemplar", native_id: id };
  const steps = [{ step_key: "a", completion_mode: "attestation", reference_pointer: pointer }];
  ok(await world.agent.post("/process-templates", { name: "t", slug: "pointing", steps }));
  const run = ok(await world.agent.post("/runs", { goal: "g" }));
  const attach = () => world.agent.post(`/runs/${run.id}/exemplars`, { exemplar_id: id });
  expect(await attach()).toMatchObject({ status: 200, body: { run_id: run.id, exemplar_ids: [id] } });
  expect(ok(await attach()).exemplar_ids).toEqual([id]);
  const template = { resource_type: "process_template", resource_id: "pointing" };
  const referrers = [{ resource_type: "run", resource_id: run.id }, template];
  await refused(world.agent.del(`/exemplars/${id}`), "conflict", { referrers });
  expect(ok(await attach()).exemplar_ids).toEqual([id]);
});

test("a step may point to it by its address or in upper case; a missing one is not attached", async () => {
  const { id } = ok(await keep("pointed to"));
  for (const reference_pointer of [
    { uri: `https://sensorium.example/v1/exemplars/${id}/download` },
    { native_id: id.toUpperCase() },
  ]) {
    const steps = [{ step_key: "a", reference_pointer }];
    const run = ok(await world.agent.post("/runs", { goal: "g", steps }));
    const referrers = expect.arrayContaining([{ resource_type: "run", resource_id: run.id }]);
    await refused(world.agent.del(`/exemplars/${id}`), "conflict", { referrers });
  }
  const run = ok(await world.agent.post("/runs", { goal: "g" }));
  const gone = ok(await keep("short-lived")).id;
  await world.agent.del(`/exemplars/${gone}`);
  const answer = await world.agent.post(`/runs/${run.id}/exemplars`, { exemplar_id: gone });
  await refused(answer, "not_found", { resource_type: "exemplar" });
});

test("people download the bytes under a filename that cannot break out of its header", async () => {
  await refused(keep("bytes", { filename: "evil\r\nX: y.md" }), "validation_failed", "filename");
  const { id } = ok(await keep("bytes \u00e9", { filename: '../"evil"; X: y\u00e9.md' }));
  const answer = await world.member.get(`/exemplars/${id}/download`);
  expect(answer).toMatchObject({ status: 200, body: "bytes \u00e9" });
  expect(answer.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
  expect(answer.headers.get("x")).toBeNull();
  const disposition = answer.headers.get("content-disposition") as string;
  expect(disposition).toMatch(/^attachment; filename=/);
  expect(disposition).not.toContain("../");
});

test.each<[string, object, number, string]>([
  ["no name", { display_name: " " }, 400, "validation_failed"],
  ["no text", { content: undefined }, 400, "validation_failed"],
  ["a text that is none", { content: 5 }, 400, "validation_failed"],
  ["an empty text", { content: "" }, 400, "validation_failed"],
  ["over a megabyte", { content: "x".repeat(1_048_577) }, 413, "payload_too_large"],
])("refused with %s", async (_, body, status, code) => {
  const before = ok(await world.agent.get("/exemplars")).length;
  expect(await keep("fine", body)).toMatchObject(refusal(status, code));
  expect(ok(await world.agent.get("/exemplars")).length).toBe(before);
});
