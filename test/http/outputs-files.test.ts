import { describe, expect, test } from "@jest/globals";
import { BODY, exporterOf } from "../support/exported.ts";
import type { Api } from "../support/http.ts";
import { startMail } from "../support/mail.ts";
import type { TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { startShared } from "../support/shared.ts";
import { makeWorld, OPERATOR_TOKEN, ok, refusal, refused } from "../support/tenancy.ts";
import { use, useServer } from "../support/use.ts";

const mail = use(await startMail());
const env = {
  ...{ EMBEDDER: "none", OUTBOUND_EMAIL: "true", OUTBOUND_EMAILS_PER_HOUR: "3" },
  SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
  SMTP_FROM: "Sensorium <sensorium@example.com>",
};
const server = await useServer({ env: { OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0", ...env } });
const world = await makeWorld(server, "files");
const id = ok(await world.agent.post("/outputs", { body: BODY, scope: "institutional" })).id;

const download = exporterOf(server.url, world.adminToken, id);

describe("export", () => {
  test("md is what was saved", async () => {
    const { headers, bytes } = await download("md");
    expect(new TextDecoder().decode(bytes)).toBe(BODY);
    expect(headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    expect(headers.get("content-disposition")).toContain("filename*=UTF-8''R%C3%A9sum%C3%A9%20%CE%A3");
    expect(headers.get("content-length")).toBe(String(bytes.length));
  });

  test("a title with a slash gives the file all of its name", async () => {
    const saved = { body: BODY, title: "Input/Output", scope: "institutional" };
    const { headers } = await download("md", ok(await world.agent.post("/outputs", saved)).id);
    expect(headers.get("content-disposition")).toBe("attachment; filename=Input_Output.md");
  });

  test("html has nothing that runs or loads from elsewhere by itself", async () => {
    const { headers, bytes } = await download("html");
    const page = new TextDecoder().decode(bytes);
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    for (const kept of [
      ...["<h1>Résumé Σ Жук</h1>", "<strong>bold</strong>", 'href="https://example.com/?a=1&amp;b=2"'],
    ])
      expect(page).toContain(kept);
    expect(page).toMatch(/<td>1<\/td>/);
    expect(page).toContain("if (a &lt; b) run();");
    expect(page).not.toMatch(/<script|onerror|javascript:|<iframe|alert\(2\)|alert\(3\)/i);
  });

  test("a text of more than 4 MiB can only be had as Markdown", async () => {
    const body = "# Long".padEnd(4_194_305, "\n");
    const long = ok(await world.agent.post("/outputs", { body, scope: "institutional" })).id;
    const refused = refusal(422, "business_rule_violation", { rule: "export_too_long" });
    expect(await world.member.get(`/outputs/${long}/export?format=html`)).toMatchObject(refused);
    const to = { to: "ann@example.com" };
    expect(await world.member.post(`/outputs/${long}/email`, to)).toMatchObject(refused);
    expect(mail.received).toEqual([]);
    expect((await download("md", long)).bytes).toHaveLength(4_194_305);
  });
});

const send = (by: Api, body: object, headers = {}) => by.post(`/outputs/${id}/email`, body, headers);

test("e-mail is to an address", async () => {
  for (const to of ["nobody", "a@b.example, c@d.example", "a@b.example\r\nBcc: x@y.example"])
    await refused(send(world.member, { to }), "validation_failed", "to");
  const subject = "Hello\r\nBcc: x@y.example";
  const answer = await send(world.member, { to: "ann@example.com", subject });
  await refused(answer, "validation_failed", "subject");
  expect(mail.received).toEqual([]);
});

test("e-mail is sent once for its key, with the text, a page and a file, and audited", async () => {
  const body = { to: "ann@example.com", attach_format: "html" };
  const key = { "idempotency-key": "mail-1" };
  const expected = { status: 200, body: { status: "sent", to: "ann@example.com" } };
  expect(await send(world.member, body, key)).toMatchObject(expected);
  expect(await send(world.member, body, key)).toMatchObject(expected);
  expect(mail.received).toHaveLength(1);
  const [{ from, to, data } = { from: "", to: [], data: "" }] = mail.received;
  expect({ from, to }).toEqual({ from: "sensorium@example.com", to: ["ann@example.com"] });
  expect(data).toMatch(/^Subject: =\?UTF-8\?/m);
  expect(data).toMatch(/^Content-Type: text\/html/m);
  expect(data).toMatch(/filename.*\.html/);
  const { entries } = ok(await world.admin.get("/audit"));
  expect(entries[0]).toMatchObject({
    resource_id: id,
    details: { to: "ann@example.com", attach_format: "html" },
  });
});

test("e-mail what the server refuses is told, and there are so many in an hour", async () => {
  const refused = await send(world.member, { to: "refused@example.com" });
  expect(refused).toMatchObject(refusal(422, "business_rule_violation", { rule: "recipient_refused" }));
  expect((await send(world.member, { to: "bob@example.com", subject: "Read" })).status).toBe(200);
  const late = await send(world.admin, { to: "cyd@example.com" });
  expect(late).toMatchObject(refusal(429, "rate_limited", { limit: 3, window_seconds: 3600 }));
  expect(Number(late.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(mail.received).toHaveLength(2);
});

describe("on other settings", () => {
  test.each<[string, () => Promise<TestServer>, number]>([
    ["e-mail and export are off by default", () => startShared(), 404],
    ["e-mail without a mail server is 503", () => startShared("open"), 503],
    [
      "e-mail is 503 while the mail server is away",
      async () => {
        await mail.stop();
        return { ...server, [Symbol.asyncDispose]: async () => {} };
      },
      503,
    ],
  ])("%s", async (_, start, status) => {
    await using other = await start();
    const { agent, member } = await makeWorld(other, "other");
    const output = ok(await agent.post("/outputs", { body: "x", scope: "institutional" })).id;
    const sent = await member.post(`/outputs/${output}/email`, { to: "ann@example.com" });
    expect(sent).toMatchObject({ status, body: { error: { message: expect.any(String) } } });
    expect(sent.headers.has("retry-after")).toBe(status === 503);
    for (const format of ["pdf", "docx"]) {
      const exported = await member.get(`/outputs/${output}/export?format=${format}`);
      await refused(exported, "not_found");
      expect(exported.body.error.message).toContain(`There is no ${format} of output on this server`);
      const unknown = `/outputs/01890000-0000-7000-8000-000000000000/export?format=${format}`;
      await refused(member.get(unknown), "not_found");
      expect((await member.get(unknown)).body.error.message).not.toContain("turns it on");
    }
  });
});

test.each<[string, string]>([
  ["without a word", " \n\n"],
  [
    "of just as many passages as are put at once",
    "A zebu was counted at the gate. ".repeat(20).concat("\n\n").repeat(200),
  ],
])("a text %s is found by its title", async (kind, body) => {
  const { id } = ok(await world.agent.post("/outputs", { title: `Quokka ${kind}`, body }));
  const found = await settle(async () => {
    const { results } = ok(await world.agent.post("/outputs/search", { query: `quokka ${kind}` }));
    return results.find(({ output }: { output: { id: string } }) => output.id === id);
  });
  expect(found.output.title).toBe(`Quokka ${kind}`);
  expect(server.logs()).not.toContain(id);
});
