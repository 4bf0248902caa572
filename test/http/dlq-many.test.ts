import { describe, expect, test } from "@jest/globals";
import { pollNow, pollSome, useGround } from "../support/deliveries.ts";
import { pagesOf } from "../support/pages.ts";
import { newReceiver, type Receiver } from "../support/receiver.ts";
import { settle } from "../support/settle.ts";
import { ok, refused } from "../support/tenancy.ts";

const ground = await useGround();
const mortal = (name: string, type: string) =>
  newReceiver(ground.server, ground.admin, name, { agent: { retry_budget: 1 }, interests: [type] });
/** Two agents; the first has five dead letters of two causes, the second one. */
const one = await mortal("one", "com.example.one.*");
const two = await mortal("two", "com.example.two");
for (const what of ["placed", "placed", "placed", "Cancelled"])
  await die(one, `com.example.one.${what}`, "shut");
await die(one, "com.example.one.placed", "full", { subject: "Order/9", source: "urn:Till" });
await die(two, "com.example.two", "shut");

async function die(receiver: Receiver, type: string, reason: string, more?: object): Promise<void> {
  await ground.publish(type, {}, more);
  const [{ id }] = await pollSome(receiver.api);
  ok(await receiver.api.post("/delivery/nack", { delivery_ids: [id], reason }));
}

const dead = (reason: string) => `max attempts exceeded (1): ${reason}`;
const SHUT = encodeURIComponent(dead("shut"));
const list = async (query: string, api = ground.admin) => ok(await api.get(`/delivery/dlq?${query}`));
const groups = async (query: string, api = ground.admin) =>
  ok(await api.get(`/delivery/dlq/groups?${query}`));

describe("filters of the list", () => {
  test.each([
    ["a reason", () => `reason=${SHUT}`, 5],
    ["a cause", () => "cause=shut", 5],
    ["an agent and a cause", () => `agent_id=${two.id}&cause=shut`, 1],
    ["an agent", () => `agent_id=${two.id}`, 1],
    ["an agent and a reason", () => `agent_id=${one.id}&reason=${SHUT}`, 4],
    ["a type", () => "type=com.example.*.placed", 4],
    ["a text in any case, here of the type", () => "text=cancelled", 1],
    ["a text of the reason", () => "text=FULL", 1],
    ["a text of the subject", () => "text=order/9", 1],
    ["a text of the source", () => "text=URN:till", 1],
    ["all of them", () => `agent_id=${one.id}&reason=${SHUT}&type=com.example.one.*&text=placed`, 3],
    ["what nothing has", () => "text=nowhere", 0],
  ])("by %s", async (_, query, count) =>
    expect(await list(query())).toMatchObject({ count, next_cursor: null }),
  );

  test("go on page by page", async () => {
    const path = "/delivery/dlq?limit=2&type=com.example.*&text=shut";
    const all = await list(`reason=${SHUT}`);
    expect(await pagesOf(ground.admin, path, "items")).toEqual(all.items);
  });

  test("show an agent none of another's", async () => {
    expect(await list(`agent_id=${one.id}`, two.api)).toMatchObject({ items: [] });
    expect(await groups(`agent_id=${one.id}`, two.api)).toEqual({ groups: [], total: 0, more: false });
    expect(await list("text=shut", two.api)).toMatchObject({ count: 1 });
  });

  test("refuse an invalid glob", () =>
    refused(ground.admin.get("/delivery/dlq?type=%5Ba"), "validation_error"));
});

test("groups count what matches, most frequent first", async () => {
  expect(await groups("")).toEqual({
    groups: [
      { cause: "shut", dlq_reason: dead("shut"), count: 5, agents: 2, latest_at: expect.any(String) },
      { cause: "full", dlq_reason: dead("full"), count: 1, agents: 1, latest_at: expect.any(String) },
    ],
    total: 6,
    more: false,
  });
  const answer = await groups("type=com.example.one.placed");
  expect(answer).toMatchObject({ groups: [{ count: 3 }, { count: 1 }], total: 4 });
});

describe("bulk requests by a filter", () => {
  const replay = (body: object) => ground.admin.post("/delivery/dlq/replay", body);
  const discard = (body: object) => ground.admin.post("/delivery/dlq/discard", body);

  test.each([
    ["neither", {}],
    ["both", { ids: ["dlv_0000000000000000000000"], text: "a" }],
    ["both", { ids: ["dlv_0000000000000000000000"], reason: "no" }],
  ])("refuse %s of ids and a filter", async (_, body) => {
    for (const answer of [replay(body), discard(body)]) await refused(answer, "validation_error");
  });

  test("concern only those until a time", async () => {
    const { items } = await list("");
    const until = items[2].dead_lettered_at;
    const dry = ok(await discard({ until, dry_run: true }));
    expect(dry).toMatchObject({ status: "dry_run", count: 4, more: false });
    expect(await list("")).toMatchObject({ count: 6 });
  });

  const auditedAs = async (action: string) =>
    ok(await ground.admin.get(`/audit?action=deliveries.${action}&limit=1`)).entries;

  test("replay one agent's of one type, audited with the count", async () => {
    const body = { agent_id: one.id, type: "com.example.one.Cancelled" };
    expect(ok(await replay(body))).toMatchObject({ status: "accepted", count: 1 });
    expect(await auditedAs("replay_many")).toMatchObject([
      { outcome: "done", details: { count: 1, dry_run: false, fields: ["agent_id", "type"] } },
    ]);
    const [{ id }] = await pollSome(one.api);
    ok(await one.api.post("/delivery/ack", { delivery_ids: [id] }));
    await settle(async () => (await list("")).count === 5);
  });

  test("discard, which no replay brings back, and which is audited with its count", async () => {
    expect(ok(await discard({ reason: dead("shut"), agent_id: one.id }))).toEqual({
      ...{ status: "accepted", count: 3, groups: [{ dlq_reason: dead("shut"), count: 3 }], more: false },
    });
    expect(await groups("")).toMatchObject({ total: 2 });
    const found = await auditedAs("discard_many");
    expect(found).toMatchObject([{ outcome: "done", details: { count: 3, dry_run: false } }]);
    expect(ok(await replay({ agent_id: one.id, text: "shut" }))).toMatchObject({ count: 0 });
    expect(await pollNow(one.api)).toEqual([]);
  });

  test("discard only the caller's own", async () => {
    ok(await two.api.post("/delivery/dlq/discard", { until: new Date().toISOString() }));
    expect((await list("")).items).toMatchObject([{ agent_id: one.id }]);
  });
});
