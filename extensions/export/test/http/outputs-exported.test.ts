/** @alone: rendering and mail, of one process. */
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { strFromU8, unzipSync } from "fflate";
import { extractText, getDocumentProxy } from "unpdf";
import { BODY, exporterOf } from "../../../../test/support/exported.ts";
import { startMail } from "../../../../test/support/mail.ts";
import { startShared } from "../../../../test/support/shared.ts";
import { makeWorld, OPERATOR_TOKEN, ok, refusal, refused } from "../../../../test/support/tenancy.ts";
import { use, useServer } from "../../../../test/support/use.ts";

/** A font that has a letter which the built-in ones lack. */
const MATHS = join(
  import.meta.dirname,
  "../../../../node_modules/dejavu-fonts-ttf/ttf/DejaVuMathTeXGyre.ttf",
);

const mail = use(await startMail());
const server = await useServer({
  env: {
    ...{ OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none", OUTPUT_EXPORT: "true" },
    ...{ EXPORT_FONTS: MATHS, OUTBOUND_EMAIL: "true", SMTP_URL: `smtp://127.0.0.1:${mail.port}` },
    SMTP_FROM: "sensorium@example.com",
  },
});
const world = await makeWorld(server, "exported");
const id = ok(await world.agent.post("/outputs", { body: BODY, scope: "institutional" })).id;

const download = exporterOf(server.url, world.adminToken, id);

const save = async (body: string): Promise<string> =>
  ok(await world.agent.post("/outputs", { body, scope: "institutional" })).id;

async function textOf(bytes: Uint8Array): Promise<string> {
  const { text } = await extractText(await getDocumentProxy(bytes), { mergePages: true });
  return text.replace(/\s+/g, " ");
}

test("pdf has the words, in any of Europe's letters", async () => {
  const { headers, bytes } = await download("pdf");
  expect([headers.get("content-type"), headers.get("warning")]).toEqual(["application/pdf", null]);
  const text = await textOf(bytes);
  for (const words of [
    ...["Résumé Σ Жук", "bold", "a link & more", "1. First", "nested", "Quoted", "if (a < b) run();"],
  ])
    expect(text).toContain(words);
});

test("pdf has letters of the fonts that the operator named; for a few that it cannot hold, boxes and a warning", async () => {
  const body =
    "# The ℊ-force\n\nThe **你** of **ℊ** and `ℊ` wrote [好](https://example.com/好) and went on.\n\n" +
    "    ℊ = 9.81\n\n| ℊ | m |\n|---|---|\n| 1 | 2ℊ |\n";
  const { headers, bytes } = await download("pdf", await save(body));
  expect(headers.get("warning")).toBe(
    '299 sensorium "Boxes stand for letters that no font has (U+4F60 U+597D); EXPORT_FONTS adds fonts"',
  );
  const text = await textOf(bytes);
  expect(text.match(/ℊ/g)).toHaveLength(6);
  expect(text).toContain("The ℊ-force The □ of ℊ and ℊ wrote □ and went on.");
});

test("pdf shows a box for other signs, and says which letters it cannot hold", async () => {
  const made = async (body: string) => world.member.get(`/outputs/${await save(body)}/export?format=pdf`);
  const refused = await made("# 你好");
  expect(refused).toMatchObject(refusal(422, "business_rule_violation", { rule: "export_fails" }));
  expect(refused.body.error.message).toContain("你好; the operator can add fonts with EXPORT_FONTS");
  expect((await made("# Done 🎉 ✅")).status).toBe(200);
});

test("docx is one that Word reads", async () => {
  const { headers, bytes } = await download("docx");
  expect(headers.get("content-type")).toContain("wordprocessingml");
  const document = strFromU8(unzipSync(bytes)["word/document.xml"] as Uint8Array);
  for (const words of ["Résumé Σ Жук", "bold", "First", "Quoted", "if (a &lt; b) run();"])
    expect(document).toContain(words);
  expect(document).toContain('w:val="Heading1"');
});

test("an e-mail has a file attached", async () => {
  ok(await world.member.post(`/outputs/${id}/email`, { to: "ann@example.com", attach_format: "docx" }));
  expect(mail.received[0]?.data).toMatch(/filename.*\.docx/);
});

test("a text of more than 4 MiB is refused", async () => {
  const long = await save("# Long".padEnd(4_194_305, "\n"));
  const refused = refusal(422, "business_rule_violation", { rule: "export_too_long" });
  for (const format of ["pdf", "docx"])
    expect(await world.member.get(`/outputs/${long}/export?format=${format}`)).toMatchObject(refused);
});

test("files are off by default, and who may read the output is told how they are turned on", async () => {
  await using shared = await startShared();
  const { agent, member } = await makeWorld(shared, "other");
  const output = ok(await agent.post("/outputs", { body: "x", scope: "institutional" })).id;
  for (const format of ["pdf", "docx"]) {
    const exported = await member.get(`/outputs/${output}/export?format=${format}`);
    await refused(exported, "not_found");
    expect(exported.body.error.message).toBe(
      `There is no ${format} of output on this server: the operator turns it on with OUTPUT_EXPORT=true; md and html always work.`,
    );
    const unknown = await member.get(`/outputs/01890000-0000-7000-8000-000000000000/export?format=${format}`);
    expect(unknown.body.error.message).not.toContain("OUTPUT_EXPORT");
  }
});
