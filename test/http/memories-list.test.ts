import { describe, expect, test } from "@jest/globals";
import { receive, type TestAgent } from "../support/agents.ts";
import type { Api } from "../support/http.ts";
import { agentIn, makeCast, memory, remember } from "../support/memories.ts";
import { pagesOf } from "../support/pages.ts";
import { settle } from "../support/settle.ts";
import { ok, refusal, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const SORTS = ["created_at", "title", "confidence", "importance"] as const;
const made: Record<string, string>[] = [];

const server = await useShared();
const cast = await makeCast(server);
ok(await cast.admin.post("/projects", { key: "apollo" }));
/** An agent of team A that owns the listed memories; others' are interleaved. */
const agent = await agentIn(server, cast.admin, { team_id: cast.teamA });
const { bob, carol } = cast;
const types = ["episodic", "semantic", "procedural"];
for (let n = 0; n < 24; n++) {
  const [who, scope] = [
    [agent, "agent"],
    [agent, "team"],
    [bob, "team"],
    [carol, "institutional"],
    // Not the agent's to see.
    [bob, "agent"],
    [carol, "team"],
  ][n % 6] as [Api, string];
  const given = {
    ...{ scope, type: types[n % 3], title: `${n % 2 ? "Title" : "TITLE"} ${"zyXWvutsrq"[n % 10]}${n}` },
    content: n % 2 ? `Odd [${n}] (content)` : "Even CONTENT",
    confidence: (n % 5) / 5,
    importance: (n % 4) / 4,
    project_id: n % 4 ? null : "apollo",
    tags: [`tag_${n % 3}`, "All", ...(n === 1 ? ["North, East"] : [])],
    source_type: n % 8 ? null : "ticket",
  };
  const answer = await remember(who, given);
  if (n % 6 < 4) made.push(answer);
}

const list = async (query: string) => ok(await agent.get(`/memories?${query}`));
const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id);

test("the newest first, what is the caller's to see, with the number of all", async () => {
  const { memories, total, next_cursor } = await list("");
  expect(idsOf(memories)).toEqual(idsOf(made as never).reverse());
  expect([total, next_cursor]).toEqual([made.length, null]);
  expect(memories[0]).toEqual({ ...made.at(-1), accessed_at: memories[0].accessed_at });
});

test.each(SORTS.flatMap((sort) => [`${sort} asc`, `${sort} desc`]))(
  "by %s, by the page and by the cursor the same",
  async (text) => {
    const [sort, order] = text.split(" ") as [string, string];
    const sign = order === "asc" ? 1 : -1;
    const expected = [...made]
      .sort((a, b) => {
        const by = a[sort] === b[sort] ? "id" : sort;
        const [one, other] = [a, b].map((each) =>
          by === "title" ? String(each.title).toLowerCase() : each[by],
        );
        return ((one as string) < (other as string) ? -1 : 1) * sign;
      })
      .map(({ id }) => id);
    const query = `sort=${sort}&order=${order}&limit=5`;
    const byOffset: string[] = [];
    for (let offset = 0; offset < expected.length; offset += 5)
      byOffset.push(...idsOf((await list(`${query}&offset=${offset}`)).memories));
    expect(byOffset).toEqual(expected);
    const byCursor = await pagesOf(agent, `/memories?${query}`, "memories", expected.length);
    expect(idsOf(byCursor)).toEqual(expected);
  },
);

/** The predicate that each filter applies to the returned memories. */
test.each<[string, (each: Record<string, unknown>) => boolean]>([
  ["type=semantic", (each) => each.type === "semantic"],
  ["scope=agent", (each) => each.scope === "agent"],
  ["scope=team", (each) => each.scope === "team"],
  ["scope=institutional", (each) => each.scope === "institutional"],
  ["project_id=apollo", (each) => each.project_id === "apollo"],
  ["project_id=", (each) => each.project_id === null],
  ["source_type=ticket", (each) => each.source_type === "ticket"],
  ["tags=TAG%201", (each) => (each.tags as string[]).includes("tag-1")],
  ["tags=tag-1&tags=tag_2", (each) => !(each.tags as string[]).includes("tag-0")],
  ["tags=tag-1,tag-2", (each) => !(each.tags as string[]).includes("tag-0")],
  ["tags=north,%20east", (each) => (each.tags as string[]).includes("north,-east")],
  ["tags=none", () => false],
  ["search=even%20con", (each) => (each.content as string).startsWith("Even")],
  ["search=%5D%20(con", (each) => (each.content as string).startsWith("Odd")],
  ["search=title%20z", (each) => /^title z/i.test(each.title as string)],
  ["search=.*", () => false],
  ["never_cited=true", () => true],
  [
    "type=semantic&scope=team&tags=all&search=odd",
    (each) => each.type === "semantic" && each.scope === "team" && (each.content as string).startsWith("Odd"),
  ],
])("?%s", async (query, fits) => {
  const expected = made.filter(fits);
  const { memories, total } = await list(query);
  expect(idsOf(memories)).toEqual(idsOf(expected as never).reverse());
  expect(total).toBe(expected.length);
});

test.each([
  ["tags[]=a", "tags[]", "tags"],
  ["tags%5B0%5D=a", "tags[0]", "tags"],
  ["Limit=1", "Limit", "limit"],
  ["ProjectId=p", "ProjectId", "project_id"],
])("%s is refused with the name that is meant", async (query, field, expected) => {
  const answer = await cast.admin.get(`/memories?${query}`);
  expect(answer.status).toBe(400);
  expect(answer.body.error).toMatchObject({
    code: "validation_failed",
    message: expect.stringContaining(`${field} is not a query parameter. Did you mean ${expected}`),
    details: { field, expected },
  });
});

test("a filter that was left empty is none, but an empty page is refused", async () => {
  const { total } = await list("");
  expect(await list("type=&search=&scope=&source_type=&sort=&order=&tags=")).toMatchObject({ total });
  for (const field of ["limit", "offset", "cursor", "never_cited"])
    await refused(agent.get(`/memories?${field}=`), "validation_failed", { field });
  for (const path of [
    ...["/events?type=&since=", "/agents?status=&search=", "/runs?status=", "/schedules?status="],
  ])
    expect([path, (await cast.admin.get(path)).status]).toEqual([path, 200]);
});

test("a parameter that resembles none is ignored", async () =>
  expect((await cast.admin.get("/memories?utm_source=x&_=1")).status).toBe(200));

describe("titles of any script and length", () => {
  /** In the order of their code points, whatever their case and width. */
  const titles = [
    ...["!".repeat(499).concat("Z"), "alpha", "Alpha 2", "\uff21lpha 3", "ALPHA 4", "beta", "Über", "übung"],
    ...["記".repeat(500), "\u{1f600}", "\u{1f601}"],
  ];

  test.each(["", "&search=any%20script"])("are paged by the cursor in one order%s", async (more) => {
    const writer = await agentIn(server, cast.admin, {});
    for (const title of titles) await remember(writer, { title, scope: "agent", content: "Of any script." });
    const query = `scope=agent&sort=title&order=asc&limit=1${more}`;
    const found = await pagesOf(writer, `/memories?${query}`, "memories");
    expect(found.map(({ title }) => title)).toEqual(titles);
  });
});

test("a text search over thousands of memories returns each match once", async () => {
  const writer = await agentIn(server, cast.admin, {});
  // Memories of one batch have the same time: none may be lost between pages.
  for (let batch = 0; batch < 5; batch++) {
    const memories = Array.from({ length: 500 }, (_, n) =>
      memory({ title: `Straw ${(n * 7) % 500}`, content: n % 100 ? "hay" : "hay and a Needle" }),
    );
    ok(await writer.post("/memories/batch", { memories }));
  }
  for (const order of ["sort=created_at", "sort=title&order=asc"]) {
    const query = `search=needle&scope=agent&limit=10&${order}`;
    const found = idsOf(await pagesOf(writer, `/memories?${query}`, "memories", 25));
    expect(found).toHaveLength(25);
    expect(new Set(found).size).toBe(25);
    const whole = ok(await writer.get(`/memories?search=needle&limit=200&${order}`));
    expect(found).toEqual(idsOf(whole.memories));
  }
});

test.each([
  ["limit=0", "validation_failed", "limit"],
  ["limit=201", "validation_failed", "limit"],
  ["offset=-1", "validation_failed", "offset"],
  ["type=opinion", "validation_error", "type"],
  ["sort=size", "validation_failed", "sort"],
  ["order=up", "validation_failed", "order"],
  ["cursor=x", "validation_failed", "cursor"],
])("?%s is refused", async (query, code, field) =>
  expect(await agent.get(`/memories?${query}`)).toMatchObject(refusal(400, code, { field })),
);

test("a cursor of another order is refused", async () => {
  const { next_cursor } = await list("limit=1&sort=title");
  await refused(agent.get(`/memories?cursor=${next_cursor}`), "validation_failed", "cursor");
});

test("many at once creates or refuses each independently, in order", async () => {
  const { alice } = cast;
  const old = await remember(alice);
  const before = (await list("scope=institutional")).total;
  const answer = await alice.post("/memories/batch", {
    memories: [
      memory({ scope: "institutional", title: "First" }),
      memory({ scope: "galaxy" }),
      "not an object",
      memory({ project_id: "unknown" }),
      memory({ supersedes_id: old.id }),
      memory({ supersedes_id: old.id }),
      memory({ scope: "institutional", title: "Last" }),
    ],
  });
  expect(answer.status).toBe(201);
  const { results } = answer.body;
  expect(results).toMatchObject([
    { status: 201, memory: { title: "First", agent_id: alice.id, status: "active" } },
    { status: 400, error: { code: "validation_failed", details: { field: "scope" } } },
    { status: 400, error: { code: "validation_failed" } },
    { status: 400, error: { code: "validation_error", details: { field: "project_id" } } },
    { status: 201, memory: { supersedes_id: old.id } },
    { status: 409, error: { code: "conflict" } },
    { status: 201, memory: { title: "Last" } },
  ]);
  expect((await list("scope=institutional")).total).toBe(before + 2);
  expect(ok(await alice.get(`/memories/${results[0].memory.id}`))).toMatchObject(results[0].memory);
});

test("many at once 500 keep their order, also under an Idempotency-Key, and are made once", async () => {
  const memories = Array.from({ length: 500 }, (_, n) => memory({ title: `Turn ${n}`, source_type: "talk" }));
  const key = { "Idempotency-Key": "a conversation" };
  const writer = await agentIn(server, cast.admin, {});
  const first = await writer.post("/memories/batch", { memories }, key);
  const again = await writer.post("/memories/batch", { memories }, key);
  const ids = first.body.results.map((each: { memory: { id: string } }) => each.memory.id);
  expect([...ids].sort()).toEqual(ids);
  expect(again.body).toEqual(first.body);
  const page = ok(await writer.get("/memories?source_type=talk&order=asc&limit=200"));
  expect([page.total, idsOf(page.memories)]).toEqual([500, ids.slice(0, 200)]);
});

test.each([[[]], [Array.from({ length: 501 }, () => memory())], ["text"]])(
  "many at once bounds (%#)",
  (memories) => refused(agent.post("/memories/batch", { memories }), "validation_failed", "memories"),
);

test("publishes changes of a memory once, to agents that may read it", async () => {
  const { admin, alice, teamA } = cast;
  const scopes = ["memory:read", "memory:write", "receive"];
  const listener = await agentIn(server, admin, { team_id: teamA }, scopes);
  const stranger = await agentIn(server, admin, { team_id: cast.teamB }, scopes);
  for (const each of [listener, stranger])
    ok(await each.post(`/agents/${each.id}/interests`, { event_type: "service.memory.*" }));
  const { id } = await remember(alice, { scope: "team" });
  ok(await alice.patch(`/memories/${id}`, { title: "Other" }));
  ok(await alice.post(`/memories/${id}/forget`));
  ok(await alice.post(`/memories/${id}/restore`));
  const other = await remember(alice, { scope: "team", supersedes_id: id });
  const open = await remember(alice, { scope: "institutional" });
  const got: { type: string; subject: string; data: object }[] = [];
  const made = [id, other.id, open.id];
  // Events from before the interests may still be delivered.
  const drain = async (who: TestAgent) => {
    const payloads = (await receive(who, 0)).map(({ payload }) => payload);
    return payloads.filter(({ subject }) => made.includes(subject));
  };
  await settle(async () => {
    got.push(...(await drain(listener)));
    return got.length >= 7;
  });
  const told = got.map(({ type, subject }) => `${type} ${subject}`);
  expect(told.sort()).toEqual(
    [
      ...["created", "updated", "forgotten", "restored", "superseded"].map(
        (what) => `service.memory.${what} ${id}`,
      ),
      `service.memory.created ${other.id}`,
      `service.memory.created ${open.id}`,
    ].sort(),
  );
  expect(JSON.stringify(got)).not.toContain("Some content");
  const heard = await settle(async () => {
    const payloads = await drain(stranger);
    return payloads.length > 0 && payloads;
  });
  expect(heard.map((each: { subject: string }) => each.subject)).toEqual([open.id]);
});
