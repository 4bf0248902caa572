import { expect, test } from "@jest/globals";
import { cloudEvent, receive, type TestAgent } from "../support/agents.ts";
import { agentIn, makeCast, remember } from "../support/memories.ts";
import { ok } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";
import { whole } from "../support/whole.ts";

const SCOPES = ["receive", "memory:read", "memory:write"];
const about = { title: "Invoice of Globex", content: "The invoice of Globex is overdue again." };

const server = await useShared();
const cast = await makeCast(server);

/** An agent of team A that hears of events of one subject, which only it is given. */
async function listener(subject: string, enrichment_depth: string, scopes = SCOPES): Promise<TestAgent> {
  const agent = await agentIn(server, cast.admin, { team_id: cast.teamA }, scopes);
  const filter_expression = `event.subject == "${subject}"`;
  const interest = { event_type: "com.example.*", filter_expression, enrichment_depth };
  ok(await agent.post(`/agents/${agent.id}/interests`, interest));
  return agent;
}

let events = 0;
/** Publishes an event with this subject, and gives the payload that the agent is given. */
async function heardBy(agent: TestAgent, subject: string) {
  const event = cloudEvent(`enrichment-${++events}`, { type: "com.example.invoice.overdue", subject });
  ok(await cast.admin.post("/events", event));
  const [{ payload }] = await receive(agent, 1);
  expect(payload).toMatchObject(event);
  return payload;
}

/** The same, of an event whose memories came in time. */
const heardWhole = (agent: TestAgent, subject: string) =>
  whole(
    () => heardBy(agent, subject),
    ({ enrichment }) => enrichment,
  );

test("a delivery carries its receiver's memories about the event, and nobody else's", async () => {
  const none = await listener("globex/0", "none");
  const shallow = await listener("globex/1", "shallow");
  const deep = await listener("globex/2", "deep");
  expect((await heardWhole(shallow, "globex/1")).enrichment).toEqual({ memories: [] });
  const hidden = await remember(cast.carol, about);
  const shared = await remember(cast.alice, { ...about, scope: "team" });
  const old = await remember(deep, about);
  const forgotten = await remember(deep, about);
  const own: string[] = [];
  for (let n = 0; n < 11; n++) own.push((await remember(deep, { ...about, title: `Invoice ${n}` })).id);
  ok(await deep.post(`/memories/${old.id}/supersede`, { superseded_by_id: own[0] }));
  ok(await deep.post(`/memories/${forgotten.id}/forget`));
  await remember(deep, { title: "Lunch", content: "The canteen serves soup." });

  expect(await heardBy(none, "globex/0")).not.toHaveProperty("enrichment");
  const { enrichment } = await heardWhole(deep, "globex/2");
  expect(enrichment).toEqual({
    memories: Array.from({ length: 10 }, () => ({
      ...{ id: expect.any(String), title: expect.stringMatching(/^Invoice/), content: about.content },
      score: expect.any(Number),
    })),
  });
  const ids = enrichment.memories.map((each: { id: string }) => each.id);
  expect(ids.filter((id: string) => ![...own, shared.id].includes(id))).toEqual([]);
  expect(ids).not.toContain(hidden.id);
  const expected = { memories: [{ id: shared.id, title: about.title, score: expect.any(Number) }] };
  expect((await heardWhole(shallow, "globex/1")).enrichment).toEqual(expected);
});

test("a token that may not read memories gets the event without them", async () => {
  const agent = await listener("blind", "deep", ["receive"]);
  await remember(cast.alice, { ...about, scope: "team" });
  expect((await heardBy(agent, "blind")).enrichment).toEqual({
    ...{ memories: [], degraded: true, degraded_reasons: ["the agent's token lacks the scope memory:read"] },
  });
});
