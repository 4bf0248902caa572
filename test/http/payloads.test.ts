import { randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import { firstAgent } from "../support/agents.ts";
import { settle } from "../support/settle.ts";
import { ok, refusal, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";
import { deliver, register, SHOP, send, serviceHeaders } from "../support/webhooks.ts";

const server = await useShared();
const agent = await firstAgent(server);

const LONG = "820982911946154508";
const json = { "content-type": "application/json" };
const event = (type: string, rest: string) =>
  `{"specversion":"1.0","id":"${randomUUID()}","source":"/till","type":"${type}",${rest}}`;
const text = async (path: string) => {
  const response = await fetch(`${server.url}${path}`, {
    headers: { authorization: `Bearer ${agent.token}` },
  });
  return response.text();
};
const publish = async (body: string, headers: Record<string, string> = json) =>
  ok(await agent.post("/events", body, headers)).event_id as string;
const log = async (id: string) => ok(await agent.get(`/ingest/webhooks/${id}/requests`)).requests;

test("integers that a double cannot hold keep their digits in every mode, to the reader, the filter and the delivery", async () => {
  const type = "com.long.sold";
  const filter_expression = `data.order.id == ${LONG}`;
  ok(await agent.post(`/agents/${agent.id}/interests`, { event_type: type, filter_expression }));
  const data = `{"order":{"id":${LONG}},"n":[${LONG}]}`;
  const binary = {
    ...{ "ce-specversion": "1.0", "ce-type": type, "ce-source": "/till", "ce-id": randomUUID() },
    ...json,
  };
  const ids = [await publish(event(type, `"data":${data}`)), await publish(data, binary)];
  const batch = `[${event(type, `"data":${data}`)},${event(type, `"data":{"order":{"id":820982911946154509}}`)}]`;
  const answers = ok(
    await agent.post("/events", batch, { "content-type": "application/cloudevents-batch+json" }),
  );
  ids.push(answers[0].event_id);
  for (const id of ids) expect(await text(`/events/${id}`)).toContain(`"n":[${LONG}]`);
  const got: string[] = [];
  await settle(async () => {
    got.push(...((await text("/delivery/poll?wait=1")).match(/evt_[\w-]+(?=","payload)/g) ?? []));
    return got.length >= 3;
  });
  expect(new Set(got)).toEqual(new Set(ids));
  const tried = ok(
    await agent.post(`/agents/${agent.id}/interests:test`, { event_type: type, filter_expression }),
  );
  expect(tried).toMatchObject({ tested: expect.any(Number), matched: 3 });
});

test("integers that a double cannot hold identify an event of a webhook, and reach its mapping", async () => {
  const hook = await register(agent, {
    ...SHOP,
    source: "long",
    mapping: { entity: "order", action: "sold", id: "/id" },
  });
  const [first, second] = [
    await send(hook, `{"id":${LONG}}`, json),
    await send(hook, '{"id":820982911946154509}', json),
  ];
  expect([first.body.status, second.body.status]).toEqual(["accepted", "accepted"]);
  expect(await text(`/events/${first.body.event_id}`)).toContain(`{"id":${LONG}}`);
  expect(await text(`/events/${first.body.event_id}`)).toContain(`${hook.id}:${LONG}"`);
});

test("filters see JSON in base64, and null next to it is no data", async () => {
  const type = "com.base64.measured";
  const data_base64 = Buffer.from('{"level": 9}').toString("base64");
  const rest = `"datacontenttype":"application/json","data_base64":"${data_base64}"`;
  await publish(event(type, rest));
  await publish(event(type, `"data":null,${rest}`));
  const given = { event_type: type, filter_expression: "data.level > 8" };
  expect(ok(await agent.post(`/agents/${agent.id}/interests:test`, given))).toMatchObject({
    matched: 2,
    hints: [],
  });
});

test("escapes of attributes that are not UTF-8 are refused, by the API and by webhooks", async () => {
  const hook = await register(agent, { name: "Events", source: "escapes", mapping: "cloudevents" });
  const headers = (subject: string) => ({
    ...{ "ce-specversion": "1.0", "ce-type": "com.escaped", "ce-source": "/x", "ce-id": randomUUID() },
    ...json,
    "ce-subject": subject,
  });
  for (const subject of ["%E4", "K%C3%B6ln%FF", "%ED%A0%80"]) {
    await refused(agent.post("/events", "{}", headers(subject)), "invalid_event", "subject");
    const dead = await deliver(hook.url, "{}", serviceHeaders(hook.signing_secret, "{}", headers(subject)));
    expect(dead.body).toMatchObject({ status: "dead_lettered" });
  }
  await settle(async () => (await log(hook.id)).length === 3);
  expect((await log(hook.id))[0].reason).toMatch(/subject: expected percent-escapes of UTF-8/);
  for (const [subject, read] of [
    ["K%C3%B6ln", "Köln"],
    ["5%", "5%"],
    ["5% K%C3%B6ln", "5% Köln"],
  ] as const) {
    const id = await publish("{}", headers(subject));
    expect(ok(await agent.get(`/events/${id}`)).payload.subject).toBe(read);
  }
});

test("a body with too many values is over a limit, and not called invalid", async () => {
  const body = `{"samples":[${"1,".repeat(110_000)}1]}`;
  const refused = await agent.post("/events", event("com.many", `"data":${body}`), json);
  expect(refused).toMatchObject(refusal(413, "payload_too_large", { max_values: 100_000 }));
  const binary = { "content-type": "application/json", "ce-specversion": "1.0", "ce-type": "com.many" };
  const headers = { ...binary, "ce-source": "/many", "ce-id": "many" };
  expect(await agent.post("/events", body, headers)).toMatchObject(refusal(413, "payload_too_large"));
  const hook = await register(agent, { ...SHOP, source: "many" });
  await send(hook, body, json);
  await settle(async () => (await log(hook.id)).length === 1);
  expect((await log(hook.id))[0].reason).toMatch(/over the limit for JSON/);
});
