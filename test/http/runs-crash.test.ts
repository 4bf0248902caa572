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
