import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join, normalize, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { constants, createGzip } from "node:zlib";
import { pathOf } from "../paths.ts";

/** Where `npm run console:build` puts the console (docs/decisions/0029-console.md). */
const FOLDER = join(import.meta.dirname, "../../../../packages/console/dist");

/** Below these stand operations and their documents: what is not there is a 404 to whoever asks. */
const NOT_PAGES = /^\/(v1|docs|mcp|w|metrics|healthz|readyz|openapi\.json|\.well-known)(\/|$)/;

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const HEADERS: [string, string][] = [
  ["Content-Security-Policy", POLICY],
  ["X-Content-Type-Options", "nosniff"],
  ["Referrer-Policy", "no-referrer"],
  ["Cross-Origin-Opener-Policy", "same-origin"],
];

/** Their names hold a digest of what is in them. */
const isHashed = (path: string) => path.startsWith("/assets/");

const YEAR = "public, max-age=31536000, immutable";
const GZIP_FROM = 1024;

const NOT_BUILT = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Afferent</title>
<h1>The console is not built</h1>
<p>This installation has no development dependencies. In the folder of the service:</p>
<pre>npm ci &amp;&amp; npm run console:build</pre>
<p>The API does not need it: <a href="/docs">its documents</a>.</p>
</html>
`;

/**
 * Answers with a file of the console, or with its page where a browser asks for one of the console's own addresses.
 * False when this is neither, and nothing was sent.
 */
export async function sendConsole(req: IncomingMessage, res: ServerResponse): Promise<boolean> {
  const path = pathOf(req);
  if ((req.method !== "GET" && req.method !== "HEAD") || NOT_PAGES.test(path)) return false;
  if (path !== "/" && extname(path) !== "") return sendFile(req, res, path);
  if (path !== "/" && !req.headers.accept?.includes("text/html")) return false;
  const page = await readFile(join(FOLDER, "index.html"), "utf8").catch(() => null);
  begin(res, page === null ? 503 : 200, {
    "Content-Type": TYPES[".html"] as string,
    "Cache-Control": "no-cache",
  });
  res.end(req.method === "HEAD" ? undefined : (page ?? NOT_BUILT));
  return true;
}

async function sendFile(req: IncomingMessage, res: ServerResponse, path: string): Promise<boolean> {
  const type = TYPES[extname(path)];
  const file = normalize(join(FOLDER, path));
  if (!type || !file.startsWith(FOLDER + sep)) return false;
  const found = await stat(file).catch(() => null);
  if (!found?.isFile()) return false;
  const zipped = found.size >= GZIP_FROM && type !== TYPES[".woff2"] && acceptsGzip(req);
  begin(res, 200, {
    "Content-Type": type,
    "Cache-Control": isHashed(path) ? YEAR : "no-cache",
    Vary: "Accept-Encoding",
    ...(zipped ? { "Content-Encoding": "gzip" } : { "Content-Length": String(found.size) }),
  });
  if (req.method === "HEAD") res.end();
  // Who goes away in the middle is no failure of this side.
  else if (zipped) await pipeline(createReadStream(file), createGzip(FAST), res).catch(() => {});
  else await pipeline(createReadStream(file), res).catch(() => {});
  return true;
}

const FAST = { level: constants.Z_BEST_SPEED };

function acceptsGzip(req: IncomingMessage): boolean {
  return /\bgzip\b/.test(String(req.headers["accept-encoding"] ?? ""));
}

function begin(res: ServerResponse, status: number, headers: Record<string, string>): void {
  for (const [name, value] of HEADERS) res.setHeader(name, value);
  res.writeHead(status, headers);
}
