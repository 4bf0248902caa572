import { expect, test } from "@jest/globals";
import type { Api } from "../support/http.ts";
import { agentIn, remember } from "../support/memories.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, ok } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const STEPS = [
  ...["connect_agent", "declare_interest", "publish_event", "acknowledge_delivery"],
  ...["create_memory", "search_memory", "save_handoff", "complete_run"],
];

const server = await useShared();
const world = await makeWorld(server, "newcomers");

const guidance = async (who: Api) => ok(await who.get("/onboarding"));
const doneOf = async (who: Api): Promise<string[]> =>
  (await guidance(who)).steps
    .filter(({ status }: { status: string }) => status === "done")
    .map(({ key }: { key: string }) => key);

test("each step is done once the organisation has done it, and stays done", async () => {
  const { admin, agent, agentId } = world;
  expect(await guidance(admin)).toMatchObject({
    ...{ dismissed_at: null, all_complete: false, personalized: true, total_steps: 8 },
    next_action: { ccode: "Connect", title: expect.any(String), suggested_prompt: expect.any(String) },
  });
  // An agent that asks is connected.
  expect((await guidance(agent)).steps).toEqual(
    STEPS.map((key, i) => ({ key, status: i === 0 ? "done" : "todo", source: "derived" })),
  );
  const expectDone = async (count: number) => {
    expect(await doneOf(admin)).toEqual(STEPS.slice(0, count));
    const { completed_steps, next_action, all_complete } = await guidance(agent);
    expect([completed_steps, next_action?.key ?? null, all_complete]).toEqual([
      count,
      STEPS[count] ?? null,
      count === 8,
    ]);
  };
  await expectDone(1);
  const interest = ok(await admin.post(`/agents/${agentId}/interests`, { event_type: "com.example.*" }));
  await expectDone(2);
  const event = { specversion: "1.0", type: "com.example.made", source: "urn:test", id: "1" };
  ok(await agent.post("/events", event));
  await expectDone(3);
  const deliveries = await settle(async () => {
    const polled = ok(await agent.get("/delivery/poll?wait=5")).deliveries;
    return polled.length > 0 && polled;
  });
  ok(await agent.post("/delivery/ack", { delivery_ids: [deliveries[0].id] }));
  await expectDone(4);
  await remember(agent);
  await expectDone(5);
  ok(await agent.post("/memories/search", { query: "content" }));
  await expectDone(6);
  const { id } = ok(await agent.post("/handoffs", { name: "onboarding" }));
  await expectDone(7);
  const steps = [{ step_key: "only", completion_mode: "attestation" }];
  const run = ok(await agent.post("/runs", { goal: "Be done", steps }));
  ok(await agent.post(`/runs/${run.id}/steps/start`, { step_key: "only" }));
  ok(
    await agent.post(`/runs/${run.id}/steps/complete`, { step_key: "only", what_makes_this_done: "It is." }),
  );
  await expectDone(8);
  ok(await agent.del(`/handoffs/${id}`));
  ok(await admin.del(`/agents/${agentId}/interests/${interest.id}`));
  await expectDone(8);
});

test("another organisation's doings are not its own", async () => {
  const other = await makeWorld(server, "others");
  expect(await doneOf(other.agent)).toEqual(["connect_agent"]);
});

test("stays dismissed for a person and the agents they own", async () => {
  const { dismissed_at } = ok(await world.agent.post("/onboarding/dismiss"));
  expect(dismissed_at).toEqual(expect.any(String));
  expect(await guidance(world.admin)).toMatchObject({ dismissed_at });
  expect(ok(await world.admin.post("/onboarding/dismiss"))).toMatchObject({ dismissed_at });
  expect(await guidance(world.member)).toMatchObject({ dismissed_at: null });
});

test("an agent that nobody owns is told what is true for all", async () => {
  const orphan = await agentIn(server, world.agent, { owner_user_id: null });
  expect(await guidance(orphan)).toEqual({
    ...{ dismissed_at: null, all_complete: false, personalized: false, completed_steps: 0, total_steps: 0 },
    ...{ steps: [], next_action: expect.objectContaining({ ccode: "Capture" }) },
  });
});
