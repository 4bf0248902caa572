import { beforeAll, describe, expect, test } from "@jest/globals";
import { newAgent } from "../support/agents.ts";
import { type Api, api } from "../support/http.ts";
import { ABSENT, makeWorld, ok, refused, signIn } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

/** People read an agent's own work: handoffs, bundles and findings. */

const server = await useShared();
const world = await makeWorld(server, "people");
const bot = await newAgent(server, world.admin, ["memory:read", "memory:write"]);
const invited = ok(await world.admin.post("/users", { email: "owner@people.example" }));
const ownerId = invited.id;
/** Owns the agent, and is no admin. */
const owner = api(server, await signIn(server, invited, world.slug));
ok(await world.admin.patch(`/agents/${bot.id}`, { owner_user_id: ownerId }));

const remember = async (by: Api, title: string, scope: string) =>
  ok(await by.post("/memories", { title, content: `${title}: lighthouse.`, type: "semantic", scope })).id;

const auditOf = async (action: string) =>
  ok(await world.admin.get(`/audit?action=${action}&limit=200`)).entries;

describe("handoffs", () => {
  const ids: string[] = [];
  let secret: string;

  beforeAll(async () => {
    secret = await remember(bot, "A private note", "agent");
    for (const name of ["first", "second", "third"]) {
      const payload = { next_action: `continue ${name}`, remaining: ["a", "b"] };
      const citations = [{ memory_id: secret }];
      ids.push(
        ok(await bot.post("/handoffs", { name, summary: "word ".repeat(200), payload, citations })).id,
      );
    }
  });

  test("an admin and the owner list them in pages, without their payload", async () => {
    for (const who of [world.admin, owner]) {
      const first = ok(await who.get(`/agents/${bot.id}/handoffs?limit=2`));
      expect(first.handoffs.map(({ name }: { name: string }) => name)).toEqual(["third", "second"]);
      expect(first.handoffs[0]).toEqual({
        ...{ id: ids[2], name: "third", version_num: 1, origin_client: null, bundle_id: null },
        ...{ pinned_at: null, last_resumed_at: null, summary: expect.stringMatching(/^word .*…$/) },
        ...{ expires_at: expect.any(String), updated_at: expect.any(String) },
      });
      const rest = ok(await who.get(`/agents/${bot.id}/handoffs?limit=2&cursor=${first.next_cursor}`));
      expect(rest).toMatchObject({ handoffs: [{ id: ids[0] }], next_cursor: null });
    }
  });

  test("one has the brief that a successor gets; titles stay with those who may read the memory", async () => {
    const own = ok(await bot.get(`/handoffs/${ids[0]}`));
    const brief = (await bot.get(`/handoffs/${ids[0]}/export`)).body;
    expect(ok(await owner.get(`/agents/${bot.id}/handoffs/${ids[0]}`))).toEqual({ ...own, brief });
    const seen = ok(await world.admin.get(`/agents/${bot.id}/handoffs/${ids[0]}`));
    expect(seen.citations).toEqual([{ memory_id: secret, title: "" }]);
    expect(seen.brief).toContain("continue first");
    expect(JSON.stringify(seen)).not.toContain("A private note");
    // Reading is no resuming.
    expect(ok(await bot.get(`/handoffs/${ids[0]}`)).last_resumed_at).toBeNull();
  });

  test("each read is one entry of the audit log, which says who read whose", async () => {
    const before = (await auditOf("handoffs.list_of_agent")).length;
    ok(await owner.get(`/agents/${bot.id}/handoffs`));
    ok(await owner.get(`/agents/${bot.id}/handoffs/${ids[1]}`));
    const lists = await auditOf("handoffs.list_of_agent");
    expect(lists).toHaveLength(before + 1);
    expect(lists[0]).toMatchObject({ actor_id: ownerId, outcome: "done", details: { agent_id: bot.id } });
    expect((await auditOf("handoffs.get_of_agent"))[0]).toMatchObject({
      ...{ actor_id: ownerId, resource_type: "handoff", resource_id: ids[1] },
      details: { agent_id: bot.id, id: ids[1] },
    });
  });

  test("only the owner and admins read an agent's handoffs", async () => {
    const paths = [`/agents/${bot.id}/handoffs`, `/agents/${bot.id}/handoffs/${ids[0]}`];
    for (const path of paths) {
      for (const who of [bot, world.agent, world.member]) await refused(who.get(path), "forbidden");
    }
    await refused(world.admin.get(`/agents/${world.agentId}/handoffs/${ids[0]}`), "not_found");
    await refused(world.admin.get(`/agents/${bot.id}/handoffs/${ABSENT}`), "not_found");
  });
});

test("bundles are listed and read; what an admin cannot read is withheld, with the brief that quotes it", async () => {
  const open = await remember(bot, "Open to all", "institutional");
  const closed = await remember(bot, "Closed to others", "agent");
  const caps = { handoffs: 0, outputs: 5 };
  const output = ok(
    await bot.post("/outputs", { body: "# Report of the lighthouse", scope: "institutional" }),
  ).id;
  const made = ok(await bot.post("/bundles", { query: "lighthouse", caps }));
  const ids = made.items.map(({ item_id }: { item_id: string }) => item_id);
  expect(ids).toEqual(expect.arrayContaining([open, closed, output]));

  const { bundles, next_cursor } = ok(await world.admin.get(`/agents/${bot.id}/bundles`));
  expect([bundles, next_cursor]).toEqual([
    [
      {
        ...{ id: made.id, query: "lighthouse", item_count: made.items.length, degraded: made.degraded },
        created_at: made.created_at,
      },
    ],
    null,
  ]);
  const path = `/agents/${bot.id}/bundles/${made.id}`;
  expect(ok(await owner.get(path))).toEqual({ ...made, agent_id: bot.id });
  const seen = ok(await world.admin.get(path));
  expect(seen.rendered_brief).toBeNull();
  const titles = new Map(
    seen.items.map((item: { item_id: string; title: string }) => [item.item_id, item.title]),
  );
  expect([titles.get(open), titles.get(closed)]).toEqual(["Open to all", ""]);
  expect(titles.get(output)).toBe("Report of the lighthouse");
  expect((await auditOf("bundles.get_of_agent"))[0]).toMatchObject({
    ...{ resource_type: "bundle", resource_id: made.id, details: { agent_id: bot.id, id: made.id } },
  });
  for (const who of [bot, world.member]) {
    await refused(who.get(path), "forbidden");
    await refused(who.get(`/agents/${bot.id}/bundles`), "forbidden");
  }
});

test("bundles a brief is whole for an admin who may read all of its items", async () => {
  const made = ok(await bot.post("/bundles", { query: "lighthouse", memory_scope: "institutional" }));
  const { rendered_brief } = ok(await world.admin.get(`/agents/${bot.id}/bundles/${made.id}`));
  expect(rendered_brief).toBe(made.rendered_brief);
});

test("findings are listed for people, newest first, by agent and by memory, and move no cursor", async () => {
  const [one, two] = [
    await remember(bot, "One", "institutional"),
    await remember(bot, "Two", "institutional"),
  ];
  const three = await remember(world.agent, "Three", "institutional");
  const first = ok(await world.member.get("/findings?limit=2"));
  expect(first.findings.map((each: { memory_id: string }) => each.memory_id)).toEqual([three, two]);
  const next = ok(await world.member.get(`/findings?limit=1&cursor=${first.next_cursor}`));
  expect(next.findings[0]).toMatchObject({ memory_id: one, title: "One", by_agent_id: bot.id });
  const ofAgent = ok(await world.member.get(`/findings?agent_id=${world.agentId}`)).findings;
  expect(ofAgent.map((each: { memory_id: string }) => each.memory_id)).toEqual([three]);
  expect(ok(await world.admin.get(`/findings?memory_id=${two}`)).findings).toHaveLength(1);
  ok(await bot.post(`/memories/${two}/forget`));
  expect(ok(await world.admin.get(`/findings?memory_id=${two}`)).findings).toEqual([]);
  expect(ok(await bot.get("/memories/findings?mark_read=false")).cold_start).toBe(true);
  await refused(world.admin.get("/findings?cursor=none"), "validation_failed");
});

test("exemplars say what refers to them, as the refusal to delete them does", async () => {
  const text = { display_name: "Good note", filename: "note.md", content: "# Note\n" };
  const { id } = ok(await bot.post("/exemplars", text));
  const path = `/exemplars/${id}/referrers`;
  expect(ok(await world.member.get(path))).toEqual({ referrers: [] });
  const run = ok(await bot.post("/runs", { goal: "g", steps: [{ step_key: "a" }] })).id;
  ok(await bot.post(`/runs/${run}/exemplars`, { exemplar_id: id }));
  const referrers = [{ resource_type: "run", resource_id: run }];
  expect(ok(await world.member.get(path))).toEqual({ referrers });
  await refused(bot.del(`/exemplars/${id}`), "conflict", { referrers });
});
