import { beforeAll, expect, test } from "@jest/globals";
import { newAgent } from "../support/agents.ts";
import { pagesOf } from "../support/pages.ts";
import { makeWorld, ok } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

/** More than two parts of an export. */
const MANY = 1100;
const NAME = '=HYPERLINK("https://evil.example";"x")';

const server = await useShared();
const world = await makeWorld(server, "exported");
const bot = await newAgent(server, world.admin, ["memory:read", "memory:write"]);
ok(await world.admin.patch(`/agents/${bot.id}`, { name: NAME }));

beforeAll(async () => {
  for (let at = 0; at < MANY; at += 50) {
    const notes = Array.from({ length: 50 }, (_, n) => bot.del(`/handoffs/${uuid(at + n)}`));
    for (const { status } of await Promise.all(notes)) expect(status).toBe(404);
  }
});

const uuid = (n: number) => `0199c0de-7a11-7c3e-9f00-${String(n).padStart(12, "0")}`;

const exported = async (query: string) => {
  const { status, headers, body } = await world.admin.get(`/audit/export?${query}`);
  return { status, headers, text: body as string };
};

test("NDJSON has every entry that the list has, in its order", async () => {
  const { headers, text } = await exported("format=ndjson&action=handoffs.delete");
  expect(headers.get("content-type")).toBe("application/x-ndjson; charset=utf-8");
  expect(headers.get("content-disposition")).toBe("attachment; filename=audit.ndjson");
  expect(text.endsWith("\n")).toBe(true);
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const listed = await pagesOf(world.admin, "/audit?action=handoffs.delete&limit=200", "entries");
  expect(listed).toHaveLength(MANY);
  expect(lines).toEqual(listed.map((entry) => ({ ...entry, actor_name: NAME })));
});

test("CSV names the actors, and has nothing that a spreadsheet would run", async () => {
  const { headers, text } = await exported("action=handoffs.delete&outcome=refused");
  expect(headers.get("content-type")).toBe("text/csv; charset=utf-8");
  const [head, first, ...rest] = text.trimEnd().split("\r\n");
  expect(head).toBe(
    "at,actor_name,actor_kind,actor_id,action,outcome,error,resource_type,resource_id,ip,request_id,details,id",
  );
  expect(rest).toHaveLength(MANY - 1);
  const name = `"'=HYPERLINK(""https://evil.example"";""x"")"`;
  expect(first).toContain(`Z,${name},agent,${bot.id},handoffs.delete,refused,not_found,handoff,`);
  expect(text).not.toMatch(/(^|,)"?[=+@-]/m);
});

test("the filters are those of the list", async () => {
  const { text } = await exported(`resource_id=${uuid(7)}`);
  expect(text.trimEnd().split("\r\n")).toHaveLength(2);
  const [entry] = ok(await world.admin.get("/audit?action=handoffs.delete&limit=1")).entries;
  const until = (await exported(`format=ndjson&action=handoffs.delete&until=${entry.at}`)).text;
  expect(until).not.toContain(entry.id);
});

test("an export of nothing has its header alone", async () => {
  expect((await exported("action=nothing")).text.trimEnd().split("\r\n")).toHaveLength(1);
  expect((await exported("format=ndjson&action=nothing")).text ?? "").toBe("");
});

test("an export is recorded once, however long it is", async () => {
  const recorded = async () =>
    ok(await world.admin.get("/audit?action=audit.export&limit=200")).entries.length;
  const before = await recorded();
  await exported("action=handoffs.delete");
  expect(await recorded()).toBe(before + 1);
});

test("an export has nothing of another tenant", async () => {
  const other = await makeWorld(server, "elsewhere");
  expect((await other.admin.get("/audit/export?format=ndjson")).body).not.toContain(bot.id);
});
