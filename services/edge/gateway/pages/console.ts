import { existsSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join } from "node:path";
import ApiGateway from "moleculer-web";
import type { Operation } from "../../../../lib/contract/contract.ts";
import { pathOf } from "../router.ts";

/** Output folder of `npm run console:build` (docs/decisions/0029-console.md). */
const FOLDER = join(import.meta.dirname, "../../../../packages/console/dist");

/** Operations of the core and their documents: unknown paths below these are a 404 for everyone. */
const NOT_PAGES = [
  "v1",
  "docs",
  "mcp",
  "w",
  "metrics",
  "healthz",
  "readyz",
  "openapi.json",
  "llms.txt",
  ".well-known",
];

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
  // Previews of PDF files: such a frame has this policy too, and runs no script that is not ours.
  "frame-src blob:",
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

/** Their names contain a digest of their content. */
const isHashed = (path: string) => path.startsWith("/assets/");

const YEAR = "public, max-age=31536000, immutable";

/** The build also writes text files in these encodings, best first. */
const ENCODINGS = [
  ["br", ".br"],
  ["gzip", ".gz"],
] as const;

const NOT_BUILT = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Sensorium</title>
<h1>The console is not built</h1>
<p>It could not be built when this was installed. Run in the folder of the installation:</p>
<pre>npm run console:build</pre>
<p>The API works without it: see <a href="/docs">its reference</a>.</p>
</html>
`;

type Next = (err?: unknown) => void;

/**
 * Middleware: serves files of the console, or its page if a browser requests one of the console's addresses. Passes
 * anything else on.
 * @param operations whose reads at the origin are no pages either
 * @param folder the build's output
 */
export function consoleFiles(operations: readonly Operation[], folder = FOLDER) {
  const reads = operations.filter(({ root, method }) => root && method === "GET");
  const apart = new Set([...NOT_PAGES, ...reads.map(({ url }) => firstSegment(url))]);
  const options = { index: false, redirect: false, cacheControl: false } as const;
  const serve = ApiGateway.serveStatic(folder, options);
  return (req: IncomingMessage, res: ServerResponse, next: Next) => {
    const path = pathOf(req);
    // Addresses below a list end in a name, which may have dots: /events/types/com.example.created.
    const isFile = extname(path) !== "" && (path.startsWith("/assets/") || path.lastIndexOf("/") === 0);
    if ((req.method !== "GET" && req.method !== "HEAD") || apart.has(firstSegment(path))) return next();
    if (isFile ? !TYPES[extname(path)] : path !== "/" && !req.headers.accept?.includes("text/html"))
      return next();
    const headers = isFile ? fileHeaders(req, folder, path) : pageHeaders(req);
    for (const [name, value] of headers) res.setHeader(name, value);
    serve(req as never, res as never, () => {
      for (const [name] of headers) res.removeHeader(name);
      if (isFile) next();
      else sayNotBuilt(req, res);
    });
  };
}

const firstSegment = (path: string) => path.split("/", 2)[1] as string;

function pageHeaders(req: IncomingMessage): [string, string][] {
  req.url = "/index.html";
  return [...HEADERS, ["Content-Type", TYPES[".html"] as string], ["Cache-Control", "no-cache"]];
}

/** Chooses the file to send for a path, by encoding. */
function fileHeaders(req: IncomingMessage, folder: string, path: string): [string, string][] {
  const headers: [string, string][] = [
    ...HEADERS,
    ["Content-Type", TYPES[extname(path)] as string],
    ["Cache-Control", isHashed(path) ? YEAR : "no-cache"],
    ["Vary", "Accept-Encoding"],
  ];
  const accepted = String(req.headers["accept-encoding"] ?? "");
  const encoded = ENCODINGS.find(
    ([name, extension]) =>
      new RegExp(`\\b${name}\\b`).test(accepted) && existsSync(join(folder, path + extension)),
  );
  if (!encoded) return headers;
  req.url = path + encoded[1];
  return [...headers, ["Content-Encoding", encoded[0]]];
}

function sayNotBuilt(req: IncomingMessage, res: ServerResponse): void {
  for (const [name, value] of HEADERS) res.setHeader(name, value);
  res.writeHead(503, { "Content-Type": TYPES[".html"] as string, "Cache-Control": "no-cache" });
  res.end(req.method === "HEAD" ? undefined : NOT_BUILT);
}
