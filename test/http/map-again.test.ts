import { describe, expect, test } from "@jest/globals";
import { newAgent, receive } from "../support/agents.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, ok, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";
import { deliver, type Registration, register, serviceHeaders } from "../support/webhooks.ts";

const wrong = (name: string) => ({ entity: "order", action: `/${name}` });
const RIGHT = { entity: "order", action: "/kind", subject: "header:X-Shop" };
const FORM = { "content-type": "application/x-www-form-urlencoded" };

const server = await useShared();
const world = await makeWorld(server, "acme");
const agent = await newAgent(server, world.admin);
ok(await agent.post(`/agents/${agent.id}/interests`, { event_type: "com.*" }));

const send = (hook: Registration, body: string, headers = {}) =>
  deliver(hook.url, body, serviceHeaders(hook.signing_secret, body, headers));

type DeadLetter = { id: string; source: string; dlq_reason: string };

async function deadLetters(source: string): Promise<DeadLetter[]> {
  const { items } = ok(await world.admin.get("/delivery/dlq?limit=200"));
  return items.filter((each: DeadLetter) => each.source === `/w/${world.slug}/${source}`);
}

/** A registration whose mapping fits nothing, and what it could not map, for a reason that has its name. */
async function unmapped(source: string, count: number, name = source) {
  const hook = await register(world.admin, { name: "Shop", source, mapping: wrong(name) });
  for (let n = 0; n < count; n++) {
    const { body } = await send(hook, JSON.stringify({ kind: "Paid", n }), { "X-Shop": `shop ${n}` });
    expect(body).toEqual({ event_id: null, status: "dead_lettered" });
  }
  const found = await deadLetters(source);
  expect(found).toHaveLength(count);
  return { hook, ids: found.map(({ id }) => id) };
}

const change = (hook: Registration, fields: object) =>
  world.admin.patch(`/ingest/webhooks/${hook.id}`, fields);

test("a webhook's mapping is replaced as a whole, and holds for what comes then", async () => {
  const { hook } = await unmapped("replaced", 1);
  const changed = ok(await change(hook, { name: "Store", mapping: RIGHT }));
  expect(changed).toMatchObject({
    ...{ name: "Store", source: "replaced", url: hook.url, mapping: { ...RIGHT, id: null, data: null } },
  });
  expect(changed.updated_at > changed.created_at).toBe(true);
  expect(ok(await world.admin.get("/ingest/webhooks")).webhooks).toContainEqual(changed);
  expect((await send(hook, '{"kind":"sent"}')).body.status).toBe("accepted");
  const [{ payload }] = await receive(agent, 1);
  expect(payload.type).toBe("com.replaced.order.sent");
});

test("a webhook's mapping that can map nothing is refused, and nothing is changed", async () => {
  const { hook } = await unmapped("refused", 1);
  const answer = await change(hook, { name: "Store", mapping: { ...RIGHT, id: "/a~7" } });
  await refused(answer, "validation_error", "mapping.id");
  const { webhooks } = ok(await world.admin.get("/ingest/webhooks"));
  expect(webhooks.find(({ id }: { id: string }) => id === hook.id)).toMatchObject({
    name: "Shop",
    mapping: wrong("refused"),
  });
});

describe("what could not be mapped", () => {
  test("cannot be replayed as long as the mapping is what it was", async () => {
    const { ids } = await unmapped("unchanged", 1);
    for (const dry_run of [true, false]) {
      const answer = await world.admin.post(`/delivery/dlq/${ids[0]}/replay`, { dry_run });
      await refused(answer, "business_rule_violation", {
        rule: "still_not_mapped",
        message: expect.stringMatching(/^mapping error: action: \/unchanged/),
      });
    }
    expect(await deadLetters("unchanged")).toHaveLength(1);
  });

  test("becomes an event once the mapping is fixed: one dead letter", async () => {
    const { hook, ids } = await unmapped("mended", 1);
    ok(await change(hook, { mapping: RIGHT }));
    const path = `/delivery/dlq/${ids[0]}/replay`;
    const dry = ok(await world.admin.post(path, { dry_run: true }));
    expect(dry).toEqual({ id: ids[0], status: "dry_run", receivers: [agent.id] });
    expect(await deadLetters("mended")).toHaveLength(1);
    expect(ok(await world.admin.post(path, {}))).toEqual({ id: ids[0], status: "accepted" });
    const [{ payload }] = await receive(agent, 1);
    expect(payload).toMatchObject({
      ...{ type: "com.mended.order.paid", source: `/w/${world.slug}/mended`, subject: "shop 0" },
      data: { kind: "Paid", n: 0 },
    });
    await settle(async () => (await deadLetters("mended")).length === 0);
    const again = await send(hook, JSON.stringify({ kind: "Paid", n: 0 }), { "X-Shop": "shop 0" });
    expect(again.body.status).toBe("duplicate");
  });

  test("becomes an event once the mapping is fixed: all of a reason", async () => {
    const { hook } = await unmapped("many", 3);
    await unmapped("left", 1, "many");
    ok(await change(hook, { mapping: RIGHT }));
    const [{ dlq_reason: reason }] = (await deadLetters("many")) as [DeadLetter];
    expect(ok(await world.admin.post("/delivery/dlq/replay", { reason, dry_run: true }))).toEqual({
      ...{ status: "dry_run", count: 4, more: false },
      groups: [{ dlq_reason: reason, count: 4 }],
    });
    ok(await world.admin.post("/delivery/dlq/replay", { reason }));
    const types = (await receive(agent, 3)).map(({ payload }) => payload.type);
    expect(types).toEqual(Array(3).fill("com.many.order.paid"));
    await settle(async () => (await deadLetters("many")).length === 0);
    // Dead letters that still cannot be mapped stay, and can be replayed again.
    await settle(async () => {
      const { count } = ok(await world.admin.post("/delivery/dlq/replay", { reason, dry_run: true }));
      return count === 1;
    });
    expect(await deadLetters("left")).toMatchObject([{ dlq_reason: reason }]);
  });

  test("says that its webhook was deleted", async () => {
    const { hook, ids } = await unmapped("deleted", 1);
    expect((await world.admin.del(`/ingest/webhooks/${hook.id}`)).status).toBe(204);
    await refused(world.admin.post(`/delivery/dlq/${ids[0]}/replay`, {}), "business_rule_violation", {
      message: "mapping error: the webhook was deleted",
    });
  });

  test("because it is no JSON never will be", async () => {
    const { hook, ids } = await unmapped("no-json", 0);
    expect(ids).toEqual([]);
    await send(hook, "no json");
    const [{ id }] = (await deadLetters("no-json")) as [DeadLetter];
    await refused(world.admin.post(`/delivery/dlq/${id}/replay`, {}), "business_rule_violation", {
      rule: "no_event_to_replay",
    });
  });
});

test("a form is mapped by its fields", async () => {
  const hook = await register(world.admin, {
    ...{ name: "Forms", source: "forms" },
    mapping: { entity: "/object", action: "/what", id: "/id" },
  });
  expect((await send(hook, "object=order&what=paid&id=7&item=a&item=b%20c", FORM)).status).toBe(202);
  const [{ payload }] = await receive(agent, 1);
  expect(payload).toMatchObject({
    id: `${hook.id}:7`,
    type: "com.forms.order.paid",
    data: { object: "order", what: "paid", id: "7", item: ["a", "b c"] },
  });
});
