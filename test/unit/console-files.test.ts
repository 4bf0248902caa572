import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { expect, test } from "@jest/globals";
import { publish } from "../../packages/console/publish.ts";
import { consoleFiles } from "../../services/edge/gateway/pages/console.ts";
import { atEnd, ownFolder } from "../support/own-folder.ts";
import { serving } from "../support/serving.ts";

const PAGE = "<!doctype html><title>Console</title>";
const SCRIPT = "console.log('here');";

const folder = await ownFolder();
mkdirSync(join(folder, "assets"));
writeFileSync(join(folder, "index.html"), PAGE);
writeFileSync(join(folder, "assets/app-1a2b.js"), SCRIPT);
writeFileSync(join(folder, "assets/app-1a2b.js.br"), brotliCompressSync(SCRIPT));
writeFileSync(join(folder, "assets/app-1a2b.js.gz"), gzipSync(SCRIPT));

/** Serves what is built in a folder; gives the address. */
async function serveConsole(built: string): Promise<string> {
  const serve = consoleFiles([], built);
  const { url, close } = await serving((req, res) => serve(req, res, () => res.writeHead(404).end()));
  atEnd(close);
  return url;
}
const origin = await serveConsole(folder);

const get = (path: string, headers: Record<string, string> = {}) => fetch(origin + path, { headers });

test.each([
  ["br, gzip", "br"],
  ["gzip", "gzip"],
  ["identity", null],
])("accept-encoding %s gets the file as built", async (accepted, encoding) => {
  const answer = await get("/assets/app-1a2b.js", { "accept-encoding": accepted });
  expect(answer.headers.get("content-encoding")).toBe(encoding);
  expect(answer.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect(answer.headers.get("vary")).toBe("Accept-Encoding");
  expect(await answer.text()).toBe(SCRIPT);
});

test("a file whose name holds a digest is kept for ever, the page is asked for again by its ETag", async () => {
  const file = await get("/assets/app-1a2b.js");
  expect(file.headers.get("cache-control")).toContain("immutable");
  await file.arrayBuffer();
  const page = await get("/", { accept: "text/html" });
  expect([page.headers.get("cache-control"), await page.text()]).toEqual(["no-cache", PAGE]);
  const again = await get("/", {
    accept: "text/html",
    "if-none-match": page.headers.get("etag") as string,
    // As a browser asks; fetch itself would say no-cache.
    "cache-control": "max-age=0",
  });
  expect([again.status, await again.text()]).toEqual([304, ""]);
});

test("every route of the console returns its page with a strict policy", async () => {
  const page = await get("/events/types/com.example.app.js", { accept: "text/html" });
  expect(await page.text()).toBe(PAGE);
  expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none'; script-src 'self';/);
});

test.each([
  ["/v1/nothing", "text/html"],
  ["/agents", "application/json"],
  ["/events/types/com.example.created", "application/json"],
  ["/assets/missing.js", "*/*"],
  ["/assets/app-1a2b.js.br", "*/*"],
  ["/..%2f..%2fetc%2fpasswd.js", "*/*"],
])("%s, asked for as %s, is not the console's", async (path, accept) => {
  const answer = await get(path, { accept });
  expect([answer.status, answer.headers.get("content-security-policy")]).toEqual([404, null]);
});

test("without a build it says how to make one", async () => {
  const answer = await fetch(await serveConsole(await ownFolder()));
  expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining("console:build")]);
});

const served = join(await ownFolder(), "dist");
const built = join(served, ".built");

function build(script: string): void {
  mkdirSync(join(built, "assets"), { recursive: true });
  writeFileSync(join(built, "index.html"), `<script src="/assets/${script}">`);
  writeFileSync(join(built, "assets", script), script);
}

/** As if what is served had been put there so long ago. */
function age(hours: number): void {
  const at = new Date(Date.now() - hours * 3_600_000);
  for (const file of ["index.html", ...scripts().map((name) => `assets/${name}`)])
    utimesSync(join(served, file), at, at);
}

const scripts = () => readdirSync(join(served, "assets")).sort();

test("keeps the previous build, whose scripts open pages still request, and removes older ones", () => {
  build("a.js");
  publish(built, served);
  expect(readFileSync(join(served, "index.html"), "utf8")).toContain("a.js");
  age(3);
  build("b.js");
  publish(built, served);
  expect(readFileSync(join(served, "index.html"), "utf8")).toContain("b.js");
  expect(scripts()).toEqual(["a.js", "b.js"]);
  build("c.js");
  publish(built, served);
  expect(scripts()).toEqual(["b.js", "c.js"]);
  expect(readdirSync(served).sort()).toEqual(["assets", "index.html"]);
});

test("a build without a page leaves what is served", () => {
  mkdirSync(built);
  expect(() => publish(built, served)).toThrow(/no index.html/);
  expect(scripts()).toEqual(["b.js", "c.js"]);
});
