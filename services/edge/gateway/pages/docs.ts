import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import type { Meta } from "../../../../lib/access/caller.ts";

/** The page at /docs is Swagger UI, served from its npm package (docs/decisions/0012-swagger-ui.md). */
const FOLDER = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));

/** For moleculer-web's static files: nothing of the folder is served but what `assetOf` knows. */
export const ASSETS = { folder: FOLDER, options: { index: false, maxAge: "1h" } };

const PREFIX = "/docs/";
const FILES = ["swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"];
const PATHS = new Set(FILES.map((file) => PREFIX + file));

/** The file of a path, as the static server names it; null where there is none. */
export function assetOf(path: string): string | null {
  return PATHS.has(path) ? path.slice(PREFIX.length - 1) : null;
}

const START =
  'SwaggerUIBundle({ url: "/openapi.json", dom_id: "#docs", deepLinking: true, validatorUrl: null });';

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Afferent API</title>
<link rel="icon" href="${PREFIX}favicon-32x32.png">
<link rel="stylesheet" href="${PREFIX}swagger-ui.css">
</head>
<body>
<main id="docs"></main>
<noscript>This page needs JavaScript; the document itself is at <a href="/openapi.json">/openapi.json</a>.</noscript>
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

/** The HTML page; its policy lets it load nothing from elsewhere. */
export function docsPage(meta: Meta): string {
  meta.$responseHeaders = { "Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff" };
  return PAGE;
}
