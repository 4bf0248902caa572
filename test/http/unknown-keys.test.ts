import { expect, test } from "@jest/globals";
import { cloudEvent } from "../support/agents.ts";
import { api } from "../support/http.ts";
import { makeWorld, ok, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared("local");
const mine = await makeWorld(server, "mine");

test("a misspelt key of an interest creates none that takes everything", async () => {
  const interests = `/agents/${mine.agentId}/interests`;
  const made = await mine.agent.post(interests, { event_typ: "com.example.a" });
  await refused(made, "validation_failed", { field: "event_typ", expected: "event_type" });
  expect(made.body.error.message).toContain("filter_expression");
  expect(ok(await mine.agent.get(interests)).total).toBe(0);
});

test("a misspelt key is found within objects and lists", async () => {
  const mapping = { entity: "a", action: "b", subjct: "/c" };
  await refused(
    mine.admin.post("/ingest/webhooks", { name: "n", source: "s", mapping }),
    "validation_failed",
    { field: "mapping.subjct", expected: "subject" },
  );
  const steps = [{ step_key: "a" }, { step_key: "b", reference_pointer: { url: "https://example.com/" } }];
  await refused(mine.agent.post("/runs", { goal: "g", steps }), "validation_failed", {
    field: "steps.1.reference_pointer.url",
    expected: "uri",
  });
});

test("a misspelt key of one memory of a batch refuses that one", async () => {
  const memory = { title: "t", content: "c", type: "semantic", scope: "agent" };
  const memories = [memory, { ...memory, tag: ["a"] }];
  const { results } = ok(await mine.agent.post("/memories/batch", { memories }));
  expect(results).toMatchObject([
    { status: 201 },
    { status: 400, error: { code: "validation_failed", details: { field: "tag", expected: "tags" } } },
  ]);
  const large = [
    memory,
    { ...memory, content: "c".repeat(32_000), tag: [] },
    ...Array(40).fill({ ...memory, content: "c".repeat(32_000) }),
  ];
  const { results: all } = ok(await mine.agent.post("/memories/batch", { memories: large }));
  expect(all.map(({ status }: { status: number }) => status).slice(0, 3)).toEqual([201, 400, 201]);
  await refused(
    mine.agent.post("/memories/batch", { memories: large, scope: "agent" }),
    "validation_failed",
    { field: "scope", expected: "memories" },
  );
});

test("a misspelt key of a secret is not sent back", async () => {
  const { body } = await api(server).post("/auth/login", { email: "a@b.example", pasword: "hunter2hunter2" });
  expect(JSON.stringify(body)).not.toContain("hunter2");
  expect(body.error.details).toMatchObject({ field: "pasword", expected: "password" });
});

test("free-form objects take any key", async () => {
  const any = { anything: { at: ["all"] }, scpoe: 1 };
  const memory = { title: "t", content: "c", type: "semantic", scope: "agent", metadata: any };
  expect(ok(await mine.agent.post("/memories", memory)).metadata).toEqual(any);
  expect(ok(await mine.agent.post("/handoffs", { name: "h", payload: any })).payload).toMatchObject(any);
  const event = cloudEvent("free", { data: any, anextension: "x" });
  expect(ok(await mine.agent.post("/events", event)).status).toBe("accepted");
});

test("a body of a path that takes none may be empty, and of another type", async () => {
  const { id } = ok(await mine.agent.post("/handoffs", { name: "pinned" }));
  expect((await mine.agent.post(`/handoffs/${id}/pin`, {})).status).toBe(200);
  const form = { "content-type": "application/x-www-form-urlencoded" };
  expect((await mine.agent.post(`/handoffs/${id}/pin`, "a=b", form)).status).toBe(200);
});
