import { describe, expect, test } from "@jest/globals";
import { cloudEvent, fannedOut, firstAgent, newAgent } from "../support/agents.ts";
import { api } from "../support/http.ts";
import { FAILED, INVALID, ok, refused, signIn } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared();
const admin = await firstAgent(server);
const agent = await newAgent(server, admin);

const interestsOf = ({ id }: { id: string }) => `/agents/${id}/interests`;
const publish = async (id: string, more: object) =>
  ok(await admin.post("/events", cloudEvent(id, more as never))).event_id;

/** How many agents the event was matched to. */
async function matchedCount(id: string, more: object): Promise<number> {
  return (await fannedOut(admin, await publish(id, more))).matched_count;
}

test("an interest lives: created, listed, read, changed, deleted", async () => {
  const path = interestsOf(agent);
  const created = await agent.post(path, { event_type: "com.life.*" });
  expect(created).toMatchObject({
    status: 201,
    body: { id: expect.stringMatching(/^int_/), agent_id: agent.id, event_type: "com.life.*" },
  });
  expect(created.body).toMatchObject({ filter_expression: null, priority: 5, enrichment_depth: "none" });
  expect(created.body.retry_delays_seconds).toBeNull();
  const { id } = created.body;
  expect(ok(await agent.get(`${path}/${id}`))).toEqual(created.body);
  expect(ok(await agent.get(path))).toEqual({ interests: [created.body], total: 1 });
  const changes = {
    ...{ event_type: "com.lives.*", filter_expression: "n > 0", priority: 9, enrichment_depth: "deep" },
  };
  expect(ok(await agent.patch(`${path}/${id}`, changes))).toMatchObject({ id, ...changes });
  const open = { filter_expression: null };
  expect(ok(await agent.patch(`${path}/${id}`, open))).toMatchObject({ ...changes, ...open });
  expect((await agent.del(`${path}/${id}`)).status).toBe(204);
  expect((await agent.get(`${path}/${id}`)).status).toBe(404);
  expect((await agent.del(`${path}/${id}`)).status).toBe(404);
  expect(ok(await agent.get(path)).total).toBe(0);
});

test("concurrent changes of different fields of an interest both apply", async () => {
  const path = interestsOf(agent);
  const types = Array.from({ length: 8 }, (_, i) => `com.both.${i}`);
  const kept = await Promise.all(
    types.map(async (event_type) => {
      const { id } = (await agent.post(path, { event_type })).body;
      const changes = [{ priority: 9 }, { enrichment_depth: "deep" }];
      await Promise.all(changes.map(async (change) => ok(await agent.patch(`${path}/${id}`, change))));
      const changed = ok(await agent.get(`${path}/${id}`));
      ok(await agent.del(`${path}/${id}`));
      return changed;
    }),
  );
  expect(kept.map(({ priority, enrichment_depth }) => [priority, enrichment_depth])).toEqual(
    types.map(() => [9, "deep"]),
  );
});

test("every change holds for the next event", async () => {
  const type = "com.change.now";
  const event = (n: number) => ({ type, data: { n } });
  const path = interestsOf(agent);
  for (let round = 0; round < 5; round++) {
    expect(await matchedCount(`before-${round}`, event(1))).toBe(0);
    const { id } = ok(await agent.post(path, { event_type: type, filter_expression: "n == 2" }));
    expect(await matchedCount(`false-${round}`, event(1))).toBe(0);
    expect(await matchedCount(`true-${round}`, event(2))).toBe(1);
    ok(await agent.patch(`${path}/${id}`, { filter_expression: "n == 1" }));
    expect(await matchedCount(`changed-${round}`, event(1))).toBe(1);
    ok(await agent.del(`${path}/${id}`));
  }
});

test("changes of many agents at once all hold", async () => {
  const agents = await Promise.all(Array.from({ length: 10 }, () => newAgent(server, admin)));
  const declared = agents.flatMap((each) =>
    [1, 2, 3].map((n) => each.post(interestsOf(each), { event_type: `com.storm.${n}` })),
  );
  expect((await Promise.all(declared)).map(({ status }) => status)).toEqual(Array(30).fill(201));
  expect(await matchedCount("storm", { type: "com.storm.2" })).toBe(10);
});

test("an inactive agent keeps its deliveries and is not matched until it is active again", async () => {
  const sleeper = await newAgent(server, admin);
  ok(await sleeper.post(interestsOf(sleeper), { event_type: "com.sleep.*" }));
  const kept = await publish("sleep-before", { type: "com.sleep.soundly" });
  await fannedOut(admin, kept);
  ok(await admin.patch(`/agents/${sleeper.id}/status`, { status: "inactive" }));
  expect(await matchedCount("sleep-during", { type: "com.sleep.soundly" })).toBe(0);
  expect(ok(await admin.get(`/events/${kept}`)).deliveries.pending).toBe(1);
  ok(await admin.patch(`/agents/${sleeper.id}/status`, { status: "active" }));
  expect(await matchedCount("sleep-after", { type: "com.sleep.soundly" })).toBe(1);
});

describe("refusals change nothing", () => {
  const path = () => interestsOf(agent);
  test.each([
    ["a filter that does not compile", { event_type: "a", filter_expression: "data.n >" }, ...INVALID],
    ["a glob that is none", { event_type: "[a" }, ...INVALID],
    ["a priority over 9", { event_type: "a", priority: 10 }, ...FAILED],
    ["a priority below 0", { event_type: "a", priority: -1 }, ...FAILED],
    ["an unknown depth", { event_type: "a", enrichment_depth: "huge" }, ...FAILED],
    ["no type", { priority: 1 }, ...FAILED],
    ["a filter over 1,000 characters", { event_type: "a", filter_expression: "x".repeat(1001) }, ...FAILED],
  ])("%s", async (_, body, status, code) => {
    const answer = await agent.post(path(), body);
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
    expect(ok(await agent.get(path())).total).toBe(0);
  });

  test("a filter that reads what no event can have is refused with the name that was meant", async () => {
    const filter_expression = "data.n > 0 && event.event_type == 'a'";
    const refused = {
      message:
        "filter_expression: `event.event_type` is not a variable: attributes of an event have lower-case letters and digits. " +
        "Did you mean `event.type`? (at position 14).",
      details: { field: "filter_expression", value: filter_expression, position: 14 },
    };
    const candidate = { event_type: "a", filter_expression };
    const { id } = ok(await agent.post(path(), { event_type: "com.renamed" }));
    for (const { status, body } of [
      await agent.post(path(), candidate),
      await agent.post(`${path()}:test`, candidate),
      await agent.patch(`${path()}/${id}`, { filter_expression }),
    ])
      expect([status, body.error]).toMatchObject([400, { code: "validation_error", ...refused }]);
    // Extension attributes have any name of lower-case letters and digits.
    const extension = { filter_expression: "event.subjct == 'a'" };
    expect((await agent.patch(`${path()}/${id}`, extension)).status).toBe(200);
    expect((await agent.del(`${path()}/${id}`)).status).toBe(204);
  });

  test("the same type and filter twice is a conflict, by creating and by changing", async () => {
    // A blank filter is none.
    const first = ok(await agent.post(path(), { event_type: "com.dup.x", filter_expression: " " }));
    expect(first.filter_expression).toBeNull();
    const other = ok(await agent.post(path(), { event_type: "com.dup.x", filter_expression: "true" }));
    for (const answer of [
      await agent.post(path(), { event_type: "com.dup.x", priority: 1 }),
      await agent.patch(`${path()}/${other.id}`, { filter_expression: null }),
    ]) {
      const details = { rule: "interest_conflict", existing_resource_id: first.id };
      await refused(answer, "business_rule_violation", details);
      expect(answer.body.error.message).toContain(`${first.id}. Update that one.`);
    }
    expect(ok(await agent.get(path())).total).toBe(2);
    for (const { id } of [first, other]) ok(await agent.del(`${path()}/${id}`));
  });

  test("another agent's interests are forbidden to an agent", async () => {
    const stranger = await newAgent(server, admin);
    await refused(stranger.get(path()), "forbidden");
    for (const to of [path(), `/agents/${agent.id}/interests:test`])
      await refused(stranger.post(to, { event_type: "a" }), "forbidden");
    expect((await stranger.get("/agents/ag_absent/interests")).status).toBe(404);
  });

  test("an admin reads an agent's interests, and creates them only as a person", async () => {
    expect((await admin.get(path())).status).toBe(200);
    await refused(admin.post(path(), { event_type: "a" }), "forbidden");
    const { admin: founder, tenant_slug } = server.credentials;
    const person = api(server, await signIn(server, founder, tenant_slug));
    const { id } = ok(await person.post(path(), { event_type: "com.person.x" }));
    expect((await admin.del(`${path()}/${id}`)).status).toBe(204);
  });
});

test("suspends a costly filter and reports it; others still match", async () => {
  const [hostile, other] = [await newAgent(server, admin), await newAgent(server, admin)];
  const ten = "[0,1,2,3,4,5,6,7,8,9]";
  const filter_expression = ["a", "b", "c", "d", "e"].reduceRight(
    (body, name) => `${ten}.all(${name}, ${body})`,
    "a >= 0",
  );
  const { id, filter_suspended_until } = ok(
    await hostile.post(interestsOf(hostile), { event_type: "com.hostile.*", filter_expression }),
  );
  expect(filter_suspended_until).toBeNull();
  ok(await other.post(interestsOf(other), { event_type: "com.hostile.*", filter_expression: "n == 1" }));
  const event = { type: "com.hostile.x", data: { n: 1 } };
  const batch = (name: string) =>
    Array.from({ length: 100 }, (_, i) => cloudEvent(`${name}-${i}`, event as never));
  const headers = { "content-type": "application/cloudevents-batch+json" };
  const suspended = async () =>
    ok(await hostile.get(`${interestsOf(hostile)}/${id}`)).filter_suspended_until as string | null;
  let until: string | null = null;
  for (let n = 0; n < 20 && !until; n++) {
    const results = ok(await admin.post("/events", batch(`hostile-${n}`), headers));
    await fannedOut(admin, results.at(-1).event_id);
    until = await suspended();
  }
  expect(Date.parse(until as string)).toBeGreaterThan(Date.now());
  const { receivers } = await fannedOut(admin, await publish("hostile-after", event));
  expect(receivers.map(({ agent_id }: { agent_id: string }) => agent_id)).toContain(other.id);
});

test("a candidate is tried on the last events, and nothing is saved", async () => {
  for (const [i, data] of [{ n: 1 }, { n: 2 }, { m: 1 }].entries())
    await publish(`try-${i}`, { type: "com.try.x", data });
  await publish("try-4", { type: "com.retry.x", data: { n: 2 } });
  const candidate = { event_type: "com.try.*", filter_expression: "data.n == 2" };
  const { results, tested, matched } = ok(await agent.post(`/agents/${agent.id}/interests:test`, candidate));
  const verdicts = results
    .slice(0, 4)
    .map((each: { matches: boolean; reason: string }) => [each.matches, each.reason]);
  expect(verdicts).toEqual([
    [false, "type"],
    [false, "filter_error"],
    [true, "match"],
    [false, "filter"],
  ]);
  expect(results[1].error).toContain("n");
  expect([matched, tested]).toEqual([1, results.length]);
  expect(ok(await agent.get(interestsOf(agent))).total).toBe(0);
});

test("a dry run says which names no event of the type has", async () => {
  await publish("hint-1", { type: "com.hint.x", subject: "s", data: { order: { total: 1 } } });
  await publish("hint-2", { type: "com.hint.x", data: { order: { total: 2 } } });
  const hints = async (filter_expression: string) => {
    const candidate = { event_type: "com.hint.*", filter_expression };
    return ok(await agent.post(`${interestsOf(agent)}:test`, candidate)).hints;
  };
  expect(await hints("total > 1 && subjct == 's'")).toEqual([
    "None of the 2 events of this type has `total`. Did you mean `data.order.total`?",
    "None of the 2 events of this type has `subjct`. Did you mean `event.subject`?",
  ]);
  expect(await hints("data.order.total > 1 || event.subject == 's'")).toEqual([]);
});

const event = { type: "com.compared.order", data: { total: 1, customer: "c" } };
const candidate = (filter_expression: string | null, event_type = "com.compared.*") => ({
  ...{ event_type, filter_expression },
});
const refusal = (name: string, said: string) => ({
  status: 400,
  body: {
    error: {
      code: "validation_error",
      message: `filter_expression: The only event of this type has no \`${name}\`.${said} If later events will have it, write \`data.${name}\` (at position 0).`,
      details: { field: "filter_expression", position: 0 },
    },
  },
});

test("a subscription is compared with the last events a key that none of them has is refused by its name alone, and accepted in `data`", async () => {
  const one = await newAgent(server, admin);
  const path = interestsOf(one);
  await publish("compared", event);
  const unknown = refusal("foo", " They have `data.total`, `data.customer`.");
  expect(await one.post(path, candidate("foo.bar > 1"))).toMatchObject(unknown);
  const meant = refusal("foo", " Did you mean `data.total`?");
  expect(await one.post(path, candidate("foo.total > 1"))).toMatchObject(meant);
  const created = await one.post(path, candidate("data.foo.bar > 1"));
  expect(created.body.warnings).toEqual(["The only event of this type has no `data.foo`."]);
  expect(ok(await one.get(`${path}/${created.body.id}`))).not.toHaveProperty("warnings");
  expect(await one.patch(`${path}/${created.body.id}`, candidate("foo.bar > 1"))).toMatchObject(unknown);
  expect(ok(await one.get(`${path}/${created.body.id}`)).filter_expression).toBe("data.foo.bar > 1");
  expect(ok(await one.post(path, candidate("total > 1"))).warnings).toBeUndefined();
  expect(ok(await one.post(path, candidate("has(foo.bar) && foo.bar > 1"))).warnings).toBeUndefined();
  const channel = ok(await admin.post("/channels", { name: "compared" }));
  const feed = { event_type_glob: "com.compared.*", filter_expression: "foo.bar > 1" };
  expect(await admin.post(`/channels/${channel.id}/feeds`, feed)).toMatchObject(unknown);
  expect(ok(await admin.get(`/channels/${channel.id}/feeds`)).total).toBe(0);
});

test("a subscription is compared with the last events a type that looks like a slip is accepted with a warning", async () => {
  const one = await newAgent(server, admin);
  const path = interestsOf(one);
  await publish("compared-again", event);
  expect(ok(await one.post(path, candidate(null, "com..compared"))).warnings).toEqual([
    "The type `com..compared` has an empty part between dots. Did you mean `com.compared`?",
  ]);
  expect(ok(await one.post(path, candidate("n == 1", "com.compared.ordr"))).warnings).toEqual([
    "None of the last events has a type that `com.compared.ordr` matches. Did you mean `com.compared.order`?",
    "None of the last events has this type, so `n` was not checked: it is read as `data.n`.",
  ]);
  const channel = ok(await admin.post("/channels", { name: "slips" }));
  const feeds = `/channels/${channel.id}/feeds`;
  expect(ok(await admin.post(feeds, { event_type_glob: "com.compared.ordre" })).warnings).toHaveLength(1);
  expect(ok(await admin.post(feeds, { event_type_glob: "com.compared.*" })).warnings).toBeUndefined();
  const published = ok(await admin.post("/events", cloudEvent("slip", { type: "com..compared" })));
  const warnings = [expect.stringContaining("com.compared")];
  expect(published).toMatchObject({ status: "accepted", warnings });
});

test("of large events a candidate is tried on fewer: they come in one message between nodes", async () => {
  for (const n of [1, 2, 3, 4])
    await publish(`large-${n}`, { type: "com.large.x", data: "x".repeat(1_000_000) });
  const tried = ok(await agent.post(`${interestsOf(agent)}:test`, { event_type: "com.large.*" }));
  expect(tried).toMatchObject({ tested: 2, matched: 2 });
});
