import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { strFromU8, unzipSync } from "fflate";
import { extractText, getDocumentProxy } from "unpdf";
import type { Api } from "../support/http.ts";
import { startMail } from "../support/mail.ts";
import { startServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { startShared } from "../support/shared.ts";
import { makeWorld, OPERATOR_TOKEN, ok, refusal } from "../support/tenancy.ts";

/** A font that has a letter which the built-in ones lack. */
const MATHS = join(import.meta.dirname, "../../node_modules/dejavu-fonts-ttf/ttf/DejaVuMathTeXGyre.ttf");

const BODY = `# Résumé Σ Жук

Some **bold**, *slanted*, \`code\` and [a link](https://example.com/?a=1&b=2) &amp; more.

1. First
2. Second
   - [x] nested

> Quoted

| A | B |
|---|---|
| 1 | 2 |

\`\`\`js
if (a < b) run();
\`\`\`

<script>alert("run")</script><img src="x" onerror="alert(1)"><a href="javascript:alert(2)">go</a>
[bad](javascript:alert(3)) <iframe src="https://evil.example"></iframe>
`;

const mail = await startMail();
const env = {
  OUTPUT_EXPORT: "true",
  EXPORT_FONTS: MATHS,
  OUTBOUND_EMAIL: "true",
  OUTBOUND_EMAILS_PER_HOUR: "3",
  SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
  SMTP_FROM: "Sensorium <sensorium@example.com>",
};
const server = await startServer({ env: { OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0", ...env } });
const world = await makeWorld(server, "files");
const id = ok(await world.agent.post("/outputs", { body: BODY, scope: "institutional" })).id;
afterAll(async () => {
  await server.stop();
  await mail.stop();
});

async function download(format: string, of = id): Promise<{ headers: Headers; bytes: Uint8Array }> {
  const headers = { authorization: `Bearer ${world.adminToken}` };
  const response = await fetch(`${server.url}/outputs/${of}/export?format=${format}`, { headers });
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(new TextDecoder().decode(bytes));
  return { headers: response.headers, bytes };
}

async function textOfPdf(of: string): Promise<{ text: string }> {
  const { bytes } = await download("pdf", of);
  return extractText(await getDocumentProxy(bytes), { mergePages: true });
}

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
      "<h1>Résumé Σ Жук</h1>",
      "<strong>bold</strong>",
      'href="https://example.com/?a=1&amp;b=2"',
    ]) {
      expect(page).toContain(kept);
    }
    expect(page).toMatch(/<td>1<\/td>/);
    expect(page).toContain("if (a &lt; b) run();");
    expect(page).not.toMatch(/<script|onerror|javascript:|<iframe|alert\(2\)|alert\(3\)/i);
  });

  test("pdf has the words, in any of Europe's letters", async () => {
    const { headers, bytes } = await download("pdf");
    expect(headers.get("content-type")).toBe("application/pdf");
    const { text } = await extractText(await getDocumentProxy(bytes), { mergePages: true });
    for (const words of [
      "Résumé Σ Жук",
      "bold",
      "a link & more",
      "1. First",
      "nested",
      "Quoted",
      "if (a < b) run();",
    ]) {
      expect(text.replace(/\s+/g, " ").replace(" & ", " & ")).toContain(words);
    }
  });

  test("pdf says which letters it cannot hold, and shows a box for other signs", async () => {
    const made = async (body: string) => {
      const output = ok(await world.agent.post("/outputs", { body, scope: "institutional" }));
      return world.member.get(`/outputs/${output.id}/export?format=pdf`);
    };
    const refused = await made("# 你好");
    expect(refused).toMatchObject(refusal(422, "business_rule_violation", { rule: "export_fails" }));
    expect(refused.body.error.message).toContain("你好; the operator can add fonts with EXPORT_FONTS");
    expect((await made("# Done 🎉 ✅")).status).toBe(200);
  });

  test("pdf with a few letters that it cannot hold has boxes for them, and a warning", async () => {
    const body =
      "# Greetings\n\nThe **你** of the desk wrote [好](https://example.com/好) and went on to the next page.";
    const output = ok(await world.agent.post("/outputs", { body, scope: "institutional" }));
    const { headers, bytes } = await download("pdf", output.id);
    expect(headers.get("warning")).toBe(
      '299 sensorium "Boxes stand for letters that no font has (U+4F60 U+597D); EXPORT_FONTS adds fonts"',
    );
    const { text } = await extractText(await getDocumentProxy(bytes), { mergePages: true });
    expect(text.replace(/\s+/g, " ")).toContain("The □ of the desk wrote □ and went on");
    expect((await download("pdf")).headers.has("warning")).toBe(false);
  });

  test("pdf has letters of the fonts that the operator named, wherever they stand", async () => {
    const body =
      "# The ℊ-force\n\nIt is **ℊ** and `ℊ`.\n\n    ℊ = 9.81\n\n| ℊ | m |\n|---|---|\n| 1 | 2ℊ |\n";
    const output = ok(await world.agent.post("/outputs", { body, scope: "institutional" }));
    const { text } = await textOfPdf(output.id);
    expect(text.match(/ℊ/g)).toHaveLength(6);
    expect(text.replace(/\s+/g, " ")).toContain("The ℊ-force It is ℊ and ℊ.");
  });

  test("docx is one that Word reads", async () => {
    const { headers, bytes } = await download("docx");
    expect(headers.get("content-type")).toContain("wordprocessingml");
    const document = strFromU8(unzipSync(bytes)["word/document.xml"] as Uint8Array);
    for (const words of ["Résumé Σ Жук", "bold", "First", "Quoted", "if (a &lt; b) run();"]) {
      expect(document).toContain(words);
    }
    expect(document).toContain('w:val="Heading1"');
  });

  test("a text of more than 4 MiB can only be had as Markdown", async () => {
    const body = "# Long".padEnd(4_194_305, "\n");
    const long = ok(await world.agent.post("/outputs", { body, scope: "institutional" })).id;
    const refused = refusal(422, "business_rule_violation", { rule: "export_too_long" });
    for (const format of ["html", "pdf", "docx"])
      expect(await world.member.get(`/outputs/${long}/export?format=${format}`)).toMatchObject(refused);
    const to = { to: "ann@example.com" };
    expect(await world.member.post(`/outputs/${long}/email`, to)).toMatchObject(refused);
    expect(mail.received).toEqual([]);
    expect((await download("md", long)).bytes).toHaveLength(4_194_305);
  });
});

const send = (by: Api, body: object, headers = {}) => by.post(`/outputs/${id}/email`, body, headers);

test("e-mail is to an address", async () => {
  for (const to of ["nobody", "a@b.example, c@d.example", "a@b.example\r\nBcc: x@y.example"]) {
    expect(await send(world.member, { to })).toMatchObject(
      refusal(400, "validation_failed", { field: "to" }),
    );
  }
  const subject = "Hello\r\nBcc: x@y.example";
  const answer = await send(world.member, { to: "ann@example.com", subject });
  expect(answer).toMatchObject(refusal(400, "validation_failed", { field: "subject" }));
  expect(mail.received).toEqual([]);
});

test("e-mail is sent once for its key, with the text, a page and a file, and audited", async () => {
  const body = { to: "ann@example.com", attach_format: "docx" };
  const key = { "idempotency-key": "mail-1" };
  const expected = { status: 200, body: { status: "sent", to: "ann@example.com" } };
  expect(await send(world.member, body, key)).toMatchObject(expected);
  expect(await send(world.member, body, key)).toMatchObject(expected);
  expect(mail.received).toHaveLength(1);
  const [{ from, to, data } = { from: "", to: [], data: "" }] = mail.received;
  expect({ from, to }).toEqual({ from: "sensorium@example.com", to: ["ann@example.com"] });
  expect(data).toMatch(/^Subject: =\?UTF-8\?/m);
  expect(data).toMatch(/^Content-Type: text\/html/m);
  expect(data).toMatch(/filename.*\.docx/);
  const { entries } = ok(await world.admin.get("/audit"));
  expect(entries[0]).toMatchObject({
    resource_id: id,
    details: { to: "ann@example.com", attach_format: "docx" },
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
  let port: number;
  beforeAll(async () => {
    const away = createServer();
    await new Promise<void>((resolve) => away.listen(0, "127.0.0.1", resolve));
    ({ port } = away.address() as { port: number });
    await new Promise((resolve) => away.close(resolve));
  });

  const OUTBOUND_EMAIL = "true";
  test.each<[string, () => Record<string, string>, number]>([
    ["e-mail and export are off by default", () => ({}), 404],
    ["e-mail without a mail server is 503", () => ({ OUTBOUND_EMAIL }), 503],
    [
      "e-mail is 503 while the mail server is away",
      () => ({ OUTBOUND_EMAIL, SMTP_URL: `smtp://127.0.0.1:${port}`, SMTP_FROM: "a@b.example" }),
      503,
    ],
  ])("%s", async (_, settings, status) => {
    const env = settings();
    const isDefault = Object.keys(env).length === 0;
    await using other = await (isDefault ? startShared() : startServer({ env: { OPERATOR_TOKEN, ...env } }));
    const { agent, member } = await makeWorld(other, "other");
    const output = ok(await agent.post("/outputs", { body: "x", scope: "institutional" })).id;
    const sent = await member.post(`/outputs/${output}/email`, { to: "ann@example.com" });
    expect(sent).toMatchObject({ status, body: { error: { message: expect.any(String) } } });
    expect(sent.headers.has("retry-after")).toBe(status === 503);
    for (const format of ["pdf", "docx"]) {
      const exported = await member.get(`/outputs/${output}/export?format=${format}`);
      expect(exported).toMatchObject(refusal(404, "not_found"));
      expect(exported.body.error.message).toBe(
        `There is no ${format} of output on this server: the operator turns it on with OUTPUT_EXPORT=true; md and html always work.`,
      );
      const unknown = `/outputs/01890000-0000-7000-8000-000000000000/export?format=${format}`;
      expect(await member.get(unknown)).toMatchObject(refusal(404, "not_found"));
      expect((await member.get(unknown)).body.error.message).not.toContain("OUTPUT_EXPORT");
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
