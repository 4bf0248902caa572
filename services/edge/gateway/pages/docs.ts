import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import ApiGateway from "moleculer-web";
import type { Meta } from "../../../../lib/access/caller.ts";
import { pathOf, wrongMethod } from "../router.ts";

/** The page at /docs is Swagger UI, served from its npm package (docs/decisions/0012-swagger-ui.md). */
const FOLDER = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));

const PREFIX = "/docs/";
const FILES = ["swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"];
const PATHS = new Set(FILES.map((file) => PREFIX + file));

const serve = ApiGateway.serveStatic(FOLDER, { index: false, redirect: false, maxAge: "1h" });

/** Middleware: serves the files of the page, and no others of that package. @throws Fault method_not_allowed */
export function docsFiles(req: IncomingMessage, res: ServerResponse, next: (err?: unknown) => void) {
  const path = pathOf(req);
  if (!PATHS.has(path)) return next();
  if (req.method !== "GET" && req.method !== "HEAD")
    return next(wrongMethod(req.method as string, path, ["GET", "HEAD"]));
  serve(req as never, res as never, next);
}

const START =
  'SwaggerUIBundle({ url: "/openapi.json", dom_id: "#docs", deepLinking: true, validatorUrl: null });';

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sensorium API</title>
<link rel="icon" href="${PREFIX}favicon-32x32.png">
<link rel="stylesheet" href="${PREFIX}swagger-ui.css">
</head>
<body>
<main id="docs"></main>
<noscript>This page needs JavaScript. The API description itself is at <a href="/openapi.json">/openapi.json</a>.</noscript>
<script src="${PREFIX}swagger-ui-bundle.js"></script>
<script>${START}</script>
</body>
</html>
`;

const POLICY = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${createHash("sha256").update(START).digest("base64")}'`,
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Returns the HTML page; its policy allows no external content. */
export function docsPage(meta: Meta): string {
  meta.$responseHeaders = { "Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff" };
  return PAGE;
}
