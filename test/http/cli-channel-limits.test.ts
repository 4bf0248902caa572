import { afterAll, expect, test } from "@jest/globals";
import { MODEL_CHARACTERS } from "../../lib/text/budget.ts";
import { Channels } from "../support/channel-receivers.ts";
import { settle } from "../support/settle.ts";

const channels = await Channels.start();
afterAll(() => channels.stop());

test("of a large event the session gets the beginning, its size and how to read the rest", async () => {
  const { publish, session } = await channels.receiver();
  const { next, client } = await session("--channel");
  const event = await publish({
    lines: Array.from({ length: 4000 }, (_, n) => `line ${n} ${"z".repeat(60)}`),
  });
  const { content } = await next(0);
  expect(content.length).toBeLessThan(MODEL_CHARACTERS + 1000);
  expect(content).toContain("line 0 zzz");
  const note =
    /of ([\d,]+) characters, [\d,]+ are above\. To read all of it, call (\w+) with event_id "(evt_[\w-]+)" and from_character 0, or run `sensorium event show evt_/;
  const [, size = "", name = "", event_id] =
    note.exec(content.replace(/(`{3,})text\n[\s\S]*?\n\1/g, "…")) ?? [];
  expect([Number(size.replaceAll(",", "")) > 280_000, event_id]).toEqual([true, event]);
  const rest = await client.callTool({ name, arguments: { event_id, from_character: 200_000 } });
  expect(JSON.stringify(rest)).toContain("zzz");
});

test("a session that settles nothing gets fewer events, then none, and no event is spent on it", async () => {
  const { publish, session, agent } = await channels.receiver();
  const left = await session("--channel", "--hold", "1s");
  const events = [];
  for (let n = 0; n < 12; n++) events.push(await publish(n));
  await settle(() => left.pushed.some(({ content }) => content.startsWith("No more events")));
  const given = () => left.pushed.filter(({ meta }) => meta.delivery_id).length;
  const before = given();
  const works = await session("--channel");
  const done = new Set<string>();
  await settle(async () => {
    const next = works.pushed.find(({ meta }) => !done.has(meta.delivery_id as string));
    if (next) await works.call("deliveries_ack", { delivery_ids: [next.meta.delivery_id] });
    if (next) done.add(next.meta.delivery_id as string);
    return done.size === 12;
  });
  expect(works.pushed.every(({ meta }) => meta.attempt === "1")).toBe(true);
  for (const event of events) expect((await channels.stateOf(event))?.state).toBe("acknowledged");
  expect(await agent.deliveries.stats({})).toMatchObject({ pending: 0, dead: 0 });
  expect(given()).toBe(before);
  // It is there after all.
  await left.call("deliveries_ack", { delivery_ids: [left.pushed[0]?.meta.delivery_id] });
  await works.end();
  await publish("again");
  await settle(() => given() > before);
});
