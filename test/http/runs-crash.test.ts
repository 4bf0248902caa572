import { expect, test } from "@jest/globals";
import { agentToken, api } from "../support/http.ts";
import { act, at, keysOf, newRun } from "../support/runs.ts";
import { startServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";

test("answered changes survive a crash, and are published once", async () => {
  const server = await startServer({ env: { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" } });
  const connect = async () => api(server, await agentToken(server, server.credentials.agent.api_key));
  try {
    let agent = await connect();
    const { id } = server.credentials.agent;
    ok(await agent.post(`/agents/${id}/interests`, { event_type: "service.run.step_completed" }));
    const run = await newRun(agent);
    const artifact = ok(
      await agent.post(at(run, "artifacts"), { kind: "note", pointer: { uri: "file:///a" } }),
    );
    const held = Buffer.from("what it held").toString("base64");
    ok(
      await act(agent, run, "complete", {
        step_key: "a",
        artifact_contents: [{ artifact_id: artifact.id, content_base64: held, mime_type: "text/plain" }],
      }),
    );
    ok(await act(agent, run, "start", { step_key: "b" }));
    ok(await act(agent, run, "complete", { step_key: "b" }));
    await server.kill();
    await server.restart();
    agent = await connect();
    expect(keysOf(ok(await agent.get(at(run, "history"))).items)).toEqual(["a", "b"]);
    const { steps } = ok(await agent.get(`/runs/${run.id}`));
    expect(steps[1].attempts).toEqual([expect.objectContaining({ outcome: "completed" })]);
    const told: string[] = [];
    await settle(async () => {
      const { deliveries } = ok(await agent.get("/delivery/poll?wait=5"));
      const ids = deliveries.map(({ id }: { id: string }) => id);
      if (ids.length) ok(await agent.post("/delivery/ack", { delivery_ids: ids }));
      told.push(
        ...deliveries.map(
          ({ payload }: { payload: { data: { step_key: string } } }) => payload.data.step_key,
        ),
      );
      return told.length >= 2;
    });
    expect(told.sort()).toEqual(["a", "b"]);
    const [kept] = await settle(async () => {
      const { artifacts } = ok(await agent.get(at(run, "artifacts")));
      return artifacts[0].content_hash && artifacts;
    });
    expect(kept.byte_size).toBe("what it held".length);
    ok(await act(agent, run, "complete", { step_key: "c" }));
    expect(ok(await act(agent, run, "complete", { step_key: "d" }))).toMatchObject({ run_completed: true });
  } finally {
    await server.stop();
  }
});

test("over a kill, an awaited event completes its step and a deadline passes, once, and waits go on", async () => {
  const server = await startServer({ env: { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" } });
  const connect = async () => api(server, await agentToken(server, server.credentials.agent.api_key));
  const wait_for = { event_type: "com.example.paid", filter_expression: "data.order == run.values.order" };
  const late = { step_key: "late", deadline_seconds: 2, on_deadline: "skip" };
  const steps = [{ step_key: "paid", wait_for }, late, { step_key: "ship", depends_on: ["paid"] }];
  const runs = 8;
  try {
    let agent = await connect();
    const orders = Array.from({ length: runs }, (_, i) => i);
    const made = await Promise.all(orders.map((order) => newRun(agent, { steps, values: { order } })));
    const pay = (order: number) =>
      agent.post("/events", {
        ...{ specversion: "1.0", type: "com.example.paid", source: "/shop", id: `paid-${order}` },
        data: { order },
      });
    // All but the last are accepted; the kill comes while they are fanned out.
    const sent = await Promise.all(orders.slice(0, -1).map(pay));
    for (const answer of sent) expect(answer.status).toBe(202);
    await server.kill();
    await server.restart();
    agent = await connect();
    ok(await pay(runs - 1));
    for (const run of made) {
      await settle(async () => ok(await agent.get(`/runs/${run.id}`)).steps[2].status === "ready");
      const { items } = ok(await agent.get(at(run, "history")));
      expect(items).toMatchObject([{ step_key: "paid", actor_kind: "event" }]);
      const { actions } = await settle(async () => {
        const done = ok(await agent.get(at(run, "history?include=actions")));
        return done.actions.some(({ kind }: { kind: string }) => kind === "step_skipped") && done;
      });
      const ends = actions.filter(({ step_key }: { step_key: string }) => step_key === "late");
      expect(ends.map(({ kind }: { kind: string }) => kind)).toEqual([
        "step_deadline_passed",
        "step_skipped",
      ]);
    }
  } finally {
    await server.stop();
  }
});
