import { expect, test } from "@jest/globals";
import { type Client, createClient, type EventSummary, isApiError } from "../../packages/client/index.ts";
import { cloudEvent, firstAgent } from "../support/agents.ts";
import { atEnd } from "../support/own-folder.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const ended = new AbortController();

const server = await useShared();
const admin = createClient({ url: server.url, apiKey: server.credentials.agent.api_key });

atEnd(() => ended.abort());

/** An agent's client, with a key of these scopes. */
async function agentWith(name: string, scopes: ("send" | "receive" | "memory:read")[]) {
  const { id } = await admin.agents.create({ name, delivery_mode: "poll" });
  const { key } = await admin.keys.create({ agent_id: id, scopes });
  return { id, client: createClient({ url: server.url, apiKey: key }) };
}

/** Reads a stream; the subjects of its events so far. */
async function streaming(client: Client, params: { type?: string; since?: string } = {}) {
  const subjects: unknown[] = [];
  let at: string | undefined;
  const read = async () => {
    for await (const { event, id, data } of client.events.stream(params, { signal: ended.signal })) {
      if (event === "ready") ({ at } = data as { at: string });
      else {
        expect({ event, id }).toEqual({ event: "event", id: (data as EventSummary).event_id });
        subjects.push((data as EventSummary).payload.subject);
      }
    }
  };
  read().catch(() => {});
  await settle(() => at !== undefined);
  return { subjects, at: at as unknown as string };
}

const publish = (client: Client, subject: string, type = "com.example.streamed") =>
  client.publish({ type, source: "urn:t", subject });

test("an admin's stream has every new event of the type once, in order", async () => {
  await publish(admin, "before");
  const [all, some] = await Promise.all([
    streaming(admin, { type: "com.example.streamed" }),
    streaming(admin, { type: "com.example.other*" }),
  ]);
  for (const subject of ["one", "two", "three"]) await publish(admin, subject);
  await publish(admin, "else", "com.example.others");
  await settle(() => all.subjects.length === 3 && some.subjects.length === 1);
  expect([all.subjects, some.subjects]).toEqual([["one", "two", "three"], ["else"]]);
  const later = await streaming(admin, { type: "com.example.streamed", since: all.at });
  await settle(() => later.subjects.includes("three"));
  expect(later.subjects.slice(-3)).toEqual(["one", "two", "three"]);
});

test("a stream gives all that came since a time, however many pages of the list that is", async () => {
  const { at } = await streaming(admin, { type: "com.example.many" });
  const subjects = Array.from({ length: 450 }, (_, n) => String(n));
  const events = subjects.map((subject) => cloudEvent(subject, { type: "com.example.many", subject }));
  const agent = await firstAgent(server);
  const batch = { "content-type": "application/cloudevents-batch+json" };
  for (let n = 0; n < 450; n += 50) ok(await agent.post("/events", events.slice(n, n + 50), batch));
  const many = await streaming(admin, { type: "com.example.many", since: at });
  await settle(() => many.subjects.length >= 450);
  expect(many.subjects).toEqual(subjects);
});

test("an agent gets what it receives and what it published, and nothing of others", async () => {
  const receiver = await agentWith("receives", ["receive"]);
  const sender = await agentWith("sends", ["send"]);
  await receiver.client.interests.create({ agent_id: receiver.id, event_type: "com.example.wanted" });
  const [got, sent] = [await streaming(receiver.client), await streaming(sender.client)];
  await publish(admin, "not for them", "com.example.unwanted");
  await publish(admin, "for the receiver", "com.example.wanted");
  await publish(sender.client, "by the sender", "com.example.unwanted");
  await settle(() => got.subjects.length > 0 && sent.subjects.length > 0);
  await publish(sender.client, "last", "com.example.wanted");
  await settle(() => got.subjects.length > 1 && sent.subjects.length > 1);
  expect(got.subjects).toEqual(["for the receiver", "last"]);
  expect(sent.subjects).toEqual(["by the sender", "last"]);
});

test("a caller without a scope and a malformed glob are refused before the stream begins", async () => {
  const { client } = await agentWith("reads", ["memory:read"]);
  const refusal = async (from: Client, type?: string) => {
    try {
      for await (const _ of from.events.stream(type === undefined ? {} : { type })) return "began";
    } catch (error) {
      return isApiError(error) ? error.code : error;
    }
    return "ended";
  };
  expect(await refusal(client)).toBe("insufficient_scope");
  expect(await refusal(admin, "[")).toMatch(/^validation_/);
});
