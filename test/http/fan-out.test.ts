import { expect, test } from "@jest/globals";
import { cloudEvent, fannedOut, firstAgent, newAgent, receive } from "../support/agents.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";
import { useServer } from "../support/use.ts";

const server = await useServer({ env: { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" } });
const admin = await firstAgent(server);

/** Publishes from many at once until `stop` says so or the server is gone; gives the ids that were accepted. */
async function publishUntil(stop: (accepted: number) => boolean): Promise<Map<string, string>> {
  const accepted = new Map<string, string>();
  let next = 0;
  const one = async () => {
    while (!stop(accepted.size)) {
      const id = `kill-${next++}`;
      const { status, body } = await admin.post("/events", cloudEvent(id, { type: "com.kill.round" }));
      if (status === 202) accepted.set(body.event_id, id);
    }
  };
  await Promise.allSettled(Array.from({ length: 24 }, one));
  return accepted;
}

test("a kill between accepting and fanning out loses nothing and doubles nothing", async () => {
  const agents = await Promise.all([1, 2, 3].map(() => newAgent(server, admin)));
  for (const agent of agents)
    ok(await agent.post(`/agents/${agent.id}/interests`, { event_type: "com.kill.*" }));
  let killed: Promise<void> | undefined;
  const accepted = await publishUntil((count) => {
    if (count >= 200) killed ??= server.kill();
    return false;
  });
  await killed;
  await server.restart();
  for (const event_id of accepted.keys()) {
    const { receivers } = await fannedOut(admin, event_id);
    const agentIds = receivers.map((each: { agent_id: string }) => each.agent_id);
    expect(agentIds.sort()).toEqual(agents.map(({ id }) => id).sort());
  }
  for (const agent of agents) {
    const events: string[] = [];
    // Among them are events whose publisher got no answer.
    await settle(async () => {
      events.push(...(await receive(agent, 0)).map(({ event_id }) => event_id));
      return [...accepted.keys()].every((id) => events.includes(id));
    });
    expect(new Set(events).size).toBe(events.length);
  }
});

test("one event for three hundred members reaches each of them once", async () => {
  const { id } = ok(await admin.post("/channels", { name: "Everybody" }));
  ok(await admin.post(`/channels/${id}/feeds`, { event_type_glob: "com.wide.x" }));
  for (let n = 0; n < 300; n += 50) {
    const made = Array.from({ length: 50 }, () =>
      admin.post("/agents", { name: "member", delivery_mode: "poll" }),
    );
    for (const { body } of await Promise.all(made))
      ok(await admin.post(`/channels/${id}/members`, { agent_id: body.id }));
  }
  const { event_id } = ok(await admin.post("/events", cloudEvent("wide", { type: "com.wide.x" })));
  const answer = await fannedOut(admin, event_id);
  expect(answer).toMatchObject({ matched_count: 300, deliveries: { pending: 300 } });
});
