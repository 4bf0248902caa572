import { expect, test } from "@jest/globals";
import { act, at, keysOf, newRun } from "../support/runs.ts";
import { makeWorld, ok, refusal } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared();
const world = await makeWorld(server, "runs-races");

test("a hundred callers race on one step: one completes it, the others are told so", async () => {
  const run = await newRun(world.agent);
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => act(world.agent, run, "complete", { step_key: "a" })),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  for (const answer of answers.filter(({ status }) => status !== 200)) {
    expect(answer).toMatchObject(refusal(409, "step_not_completable"));
  }
  expect(keysOf(ok(await world.agent.get(at(run, "history"))).items)).toEqual(["a"]);
});

test("a run records each change of a hundred concurrent callers on one step", async () => {
  const run = await newRun(world.agent);
  const ways = ["complete", "skip", "reopen", "start"];
  const answers = await Promise.all(
    Array.from({ length: 100 }, async (_, i) => {
      const way = ways[i % ways.length] as string;
      const reason = { complete: {}, start: {} }[way] ?? { reason: "because" };
      return { way, ...(await act(world.agent, run, way, { step_key: "a", ...reason })) };
    }),
  );
  const times = (...those: string[]) =>
    answers.filter(({ way, status }) => those.includes(way) && status < 300).length;
  for (const { status } of answers) expect([200, 201, 409]).toContain(status);
  const { steps } = ok(await world.agent.get(`/runs/${run.id}`));
  const isDone = ["completed", "skipped"].includes(steps[0].status);
  expect(times("complete", "skip") - times("reopen")).toBe(isDone ? 1 : 0);
  expect(steps[0].attempts).toHaveLength(times("start"));
  const open = steps[0].attempts.filter((attempt: { ended_at: string | null }) => attempt.ended_at === null);
  if (isDone || steps[0].status === "ready") expect(open).toEqual([]);
});

test("different steps of one run are all done", async () => {
  const steps = Array.from({ length: 40 }, (_, i) => ({ step_key: `s${i}` }));
  const run = await newRun(world.agent, { steps });
  const answers = await Promise.all(
    steps.map(({ step_key }) => act(world.agent, run, "complete", { step_key })),
  );
  expect(answers.filter(({ body }) => body.run_completed)).toHaveLength(1);
  expect(ok(await world.agent.get(at(run, "history"))).items).toHaveLength(40);
});

test("a retry with the same key finds what the first try did", async () => {
  const run = await newRun(world.agent);
  const key = { "idempotency-key": "start-a" };
  const first = await world.agent.post(at(run, "steps/start"), { step_key: "a" }, key);
  const again = await world.agent.post(at(run, "steps/start"), { step_key: "a" }, key);
  expect(again.body).toEqual(first.body);
  expect(ok(await world.agent.get(`/runs/${run.id}`)).steps[0].attempts).toHaveLength(1);
});

test("a concurrent transition does not lose attachments of a run", async () => {
  const run = await newRun(world.agent);
  ok(await act(world.agent, run, "start", { step_key: "a" }));
  const exemplar = { display_name: "A model", filename: "model.md", content: "# Model" };
  const { id } = ok(await world.agent.post("/exemplars", exemplar));
  ok(await world.agent.post(at(run, "exemplars"), { exemplar_id: id }));
  const closed = ok(await world.agent.post(at(run, "close"), { outcome: "abandoned" }));
  expect(closed.exemplar_ids).toEqual([id]);
});

test("an exemplar that is attached again while somebody tries to delete it stays attached", async () => {
  const run = await newRun(world.agent);
  const { id } = ok(
    await world.agent.post("/exemplars", { display_name: "Kept", filename: "kept.md", content: "# Kept" }),
  );
  const attach = () => world.agent.post(at(run, "exemplars"), { exemplar_id: id });
  ok(await attach());
  const tries = Array.from({ length: 40 }, (_, i) =>
    i % 2 ? attach() : world.agent.del(`/exemplars/${id}`),
  );
  const statuses = new Set((await Promise.all(tries)).map(({ status }) => status));
  expect(statuses).toEqual(new Set([200, 409]));
  expect(ok(await world.agent.get(`/runs/${run.id}`)).exemplar_ids).toEqual([id]);
});
