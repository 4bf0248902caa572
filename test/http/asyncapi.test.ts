import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { Ajv } from "ajv";
import addFormatsModule from "ajv-formats";
import { newAgent, receive, type TestAgent } from "../support/agents.ts";
import { makeDeadLetters } from "../support/dead-letters.ts";
import { ingest, textFile } from "../support/documents.ts";
import { startEndpoint } from "../support/endpoint.ts";
import type { Json } from "../support/http.ts";
import { newReceiver } from "../support/receiver.ts";
import { act, at, newRun } from "../support/runs.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, ok } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const document: Json = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../docs/asyncapi.json"), "utf8"),
);
const ajv = new Ajv({ strict: false });
(addFormatsModule as unknown as (ajv: Ajv) => void)(ajv);
ajv.addSchema({ components: document.components }, "doc");
const server = await useShared("open");
const world = await makeWorld(server, "asyncapi");
const watcher = await newAgent(server, world.admin, ["receive", "memory:read"]);
for (const event_type of ["service.*", "memory.cited"])
  ok(await watcher.post(`/agents/${watcher.id}/interests`, { event_type }));

/** The first error of a value by a schema of the document, or null. */
function misfit(schema: Json, value: unknown): unknown {
  const whole = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"doc#/'));
  return ajv.validate(whole, value) ? null : [ajv.errorsText(), value];
}

const messagesOf = (channel: string): Record<string, Json> => document.channels[channel].messages;

/** Receives until events of these types have come. All must fit their messages. */
async function receiveFitting(agent: TestAgent, types: string[]): Promise<void> {
  const missing = new Set(types);
  await settle(
    async () => {
      for (const delivery of await receive(agent, 0)) {
        const { type } = delivery.payload;
        const wrong = misfit(messagesOf("platformEvents")[type]?.payload, delivery.payload);
        expect([type, wrong]).toEqual([type, null]);
        expect(misfit(messagesOf("deliveries").delivery.payload, delivery)).toBeNull();
        missing.delete(type);
      }
      return missing.size === 0;
    },
    { what: `events of the types ${types.join(", ")}` },
  );
}

test("events about memories are as described", async () => {
  const { agent } = world;
  const create = async (title: string) =>
    ok(await agent.post("/memories", { type: "semantic", title, content: title, scope: "institutional" }));
  const [first, second, third] = [await create("One"), await create("Two"), await create("Three")];
  ok(await agent.patch(`/memories/${first.id}`, { title: "One, again" }));
  ok(await agent.post(`/memories/${first.id}/supersede`, { superseded_by_id: second.id }));
  ok(await agent.post(`/memories/${second.id}/cite`, {}));
  ok(await agent.post(`/memories/${third.id}/forget`, {}));
  ok(await agent.post(`/memories/${third.id}/restore`, {}));
  const changes = ["created", "updated", "superseded", "forgotten", "restored"];
  await receiveFitting(watcher, [...changes.map((what) => `service.memory.${what}`), "memory.cited"]);
});

test("events about runs are as described", async () => {
  const { agent } = world;
  const steps = [
    { step_key: "a", completion_criteria: ["k", "l"].map((key) => ({ key, description: "Checked" })) },
    { step_key: "b", depends_on: ["a"] },
    { step_key: "c", depends_on: ["b"] },
  ];
  const run = await newRun(agent, { steps });
  ok(await act(agent, run, "start", { step_key: "a" }));
  for (const criterion_key of ["k", "l"])
    ok(await act(agent, run, "complete", { step_key: "a", criterion_key }));
  ok(await act(agent, run, "skip", { step_key: "b", reason: "not today" }));
  ok(await act(agent, run, "start", { step_key: "c" }));
  ok(await agent.post(at(run, "handoff-offers"), { step_key: "c" }));
  ok(await act(agent, run, "complete", { step_key: "c" }));
  ok(await act(agent, run, "reopen", { step_key: "c", reason: "once more" }));
  ok(await act(agent, run, "skip", { step_key: "c", reason: "enough" }));
  ok(await agent.post(at(run, "close"), { outcome: "achieved" }));
  const facts = ["created", "step_ready", "step_started", "step_completed", "criterion_attested"];
  const later = ["step_skipped", "step_reopened", "handoff_offered", "completed", "reactivated", "closed"];
  await receiveFitting(
    watcher,
    [...facts, ...later].map((what) => `service.run.${what}`),
  );
});

test("events about documents and dead letters are as described", async () => {
  const { agent, admin } = world;
  await ingest(agent, textFile("The first.", { filename: "a.txt" }));
  await ingest(agent, textFile("The second.", { filename: "a.txt" }));
  await receiveFitting(watcher, ["service.document.stored", "service.document.superseded"]);

  const failing = await newReceiver(server, admin, "failing", {
    ...{ interests: ["com.example.dead"], agent: { retry_budget: 1 }, scopes: ["send", "receive"] },
  });
  await makeDeadLetters(failing.api, "com.example.dead", ["closed"]);
  await receiveFitting(watcher, ["service.delivery.dead_lettered"]);
});

test("pushes have the headers and the body as described, in both formats", async () => {
  const { admin, agent } = world;
  for (const format of ["structured", "binary"] as const) {
    await using endpoint = await startEndpoint();
    const type = `com.example.${format}`;
    const push = { delivery_mode: "push", delivery_endpoint: endpoint.url, push_format: format };
    await newReceiver(server, admin, format, { interests: [type], agent: push });
    ok(await agent.post("/events", { specversion: "1.0", id: type, source: "urn:t", type, data: { n: 1 } }));
    const { headers, body } = await settle(() => endpoint.pushed[0]);
    const message = messagesOf("pushes")[format];
    expect(misfit(message.headers, headers)).toBeNull();
    if (format === "structured") {
      expect(headers["content-type"]).toContain(message.contentType);
      expect(misfit(message.payload, JSON.parse(body))).toBeNull();
    } else expect([headers["ce-type"], body]).toEqual([type, '{"n":1}']);
    expect(misfit(message.headers, { ...headers, "webhook-signature": undefined })).not.toBeNull();
  }
});
