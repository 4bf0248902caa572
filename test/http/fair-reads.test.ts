import { expect, test } from "@jest/globals";
import type { Answer, Api } from "../support/http.ts";
import { memory, remember } from "../support/memories.ts";
import { makeWorld, OPERATOR_TOKEN, ok } from "../support/tenancy.ts";
import { useServer } from "../support/use.ts";

const BATCHES = 5;
const BATCH = 500;
const READS = 200;

const server = await useServer({ env: { OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" } });
const [crowded, calm] = await Promise.all([makeWorld(server, "crowded"), makeWorld(server, "calm")]);
for (let batch = 0; batch < BATCHES; batch++) {
  const memories = Array.from({ length: BATCH }, (_, i) => memory({ content: `crowd ${batch} ${i}` }));
  ok(await crowded.agent.post("/memories/batch", { memories }));
}
await remember(calm.agent);

test("reads continue despite any number of costly ones of another tenant and a colleague", async () => {
  const answers: Answer[] = [];
  const done = () => answers.filter(({ status }) => status === 200).length;
  const ask = async () => {
    answers.push(await crowded.admin.post("/memories/erase", { agent_id: crowded.agentId, dry_run: true }));
  };
  const all = Array.from({ length: READS }, ask);
  const others: [Api, string][] = [
    [calm.agent, "/memories/health"],
    [calm.agent, "/memories"],
    [calm.admin, "/delivery/stats"],
    [crowded.agent, "/memories?limit=1"],
  ];
  await Promise.all(
    others.map(async ([by, path]) => expect(await by.get(path)).toMatchObject({ status: 200 })),
  );
  // Most of them still wait.
  expect(done()).toBeLessThan(READS / 2);
  await Promise.all(all);
  // One after the other: those that could not begin in time are to be repeated.
  expect(done()).toBeGreaterThan(0);
  for (const { status, body } of answers)
    if (status !== 200) expect(body.error).toMatchObject({ details: { retry_after_seconds: 1 } });
});
