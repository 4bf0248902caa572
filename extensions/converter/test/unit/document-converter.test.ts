import { expect, test } from "@jest/globals";
import { NotConvertible } from "../../../../services/remember/documents/converter.ts";
import { atEnd } from "../../../../test/support/own-folder.ts";
import { serving } from "../../../../test/support/serving.ts";
import { type CONVERTERS, converterAt } from "../../document-converter.ts";

type Answer = { status?: number; headers?: Record<string, string>; body: string };

/** A converter that answers each request alike, and what it was sent. */
async function serve({ status = 200, headers = {}, body }: Answer) {
  const seen: { method?: string; url?: string; headers: Record<string, unknown>; body: string }[] = [];
  const { url, close } = await serving(async (req, res) => {
    const parts: Buffer[] = [];
    for await (const part of req) parts.push(part as Buffer);
    const { method = "", url = "" } = req;
    seen.push({ method, url, headers: req.headers, body: Buffer.concat(parts).toString("latin1") });
    res.writeHead(status, headers).end(body);
  });
  atEnd(close);
  return { url, seen };
}

const going = new AbortController().signal;
const scan = { bytes: new TextEncoder().encode("GIF89a scan"), filename: "höhe.gif", mime_type: "image/gif" };

async function convert(kind: (typeof CONVERTERS)[number], answer: Answer) {
  const { url, seen } = await serve(answer);
  const { bytes, mime_type } = await converterAt(url, kind, "secret").convert(scan, going);
  return { text: new TextDecoder().decode(bytes), mime_type, sent: seen[0] };
}

test("docling-serve gets a form and returns Markdown", async () => {
  const body = JSON.stringify({
    status: "success",
    document: { md_content: "# Depths\n\n<!-- image -->North 4 m" },
  });
  const { text, mime_type, sent } = await convert("docling", { body });
  expect([text, mime_type]).toEqual(["# Depths\n\nNorth 4 m", "text/markdown"]);
  expect(sent).toMatchObject({ method: "POST", url: "/v1/convert/file", headers: { "x-api-key": "secret" } });
  expect(sent?.body).toMatch(/name="files"; filename="h.*\.gif"[\s\S]*GIF89a scan[\s\S]*name="to_formats"/);
});

test("Apache Tika gets the file and returns HTML", async () => {
  const { text, mime_type, sent } = await convert("tika", { body: "<p>Depths</p>" });
  expect([text, mime_type]).toEqual(["<p>Depths</p>", "text/html"]);
  expect(sent).toMatchObject({ method: "PUT", url: "/tika", body: "GIF89a scan" });
  expect(sent?.headers).toMatchObject({ "content-type": "image/gif", accept: "text/html" });
});

test("unstructured gets a form and returns elements", async () => {
  const body = JSON.stringify([
    { type: "Title", text: "Depths & tides" },
    { type: "ListItem", text: "North" },
    { type: "Table", text: "A 1", metadata: { text_as_html: "<table><tr><td>A<td>1</table>" } },
  ]);
  const { text, sent } = await convert("unstructured", { body });
  expect(text).toBe("<h1>Depths &#38; tides</h1>\n<ul><li>North</li></ul>\n<table><tr><td>A<td>1</table>");
  expect(sent).toMatchObject({ url: "/general/v0/general", headers: { "unstructured-api-key": "secret" } });
});

test.each<[string, Answer, boolean]>([
  ["refuses the file", { status: 422, body: "" }, true],
  ["fails to convert it", { body: JSON.stringify({ status: "failure" }) }, true],
  ["is overloaded", { status: 503, body: "" }, false],
  ["sends it elsewhere", { status: 307, headers: { location: "http://127.0.0.1:1/" }, body: "" }, false],
])("that %s", async (_what, answer, isFinal) => {
  const err = await convert("docling", answer).catch((each) => each);
  expect((err as Error).message).toBeTruthy();
  expect(err instanceof NotConvertible).toBe(isFinal);
});
