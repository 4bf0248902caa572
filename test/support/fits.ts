import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv, type ValidateFunction } from "ajv";

type Answered = { method: string; url: string; status: number; body: unknown };

type Responses = Record<string, { $ref?: string; content?: Record<string, unknown> }>;

const DOCUMENT = join(import.meta.dirname, "../../docs/openapi.json");
const document = JSON.parse(readFileSync(DOCUMENT, "utf8"));
const ajv = new Ajv({ strict: false, validateFormats: false }).addSchema(document, "api");
const validators = new Map<string, ValidateFunction | null>();

/** Paths as patterns; those with fewer placeholders first, as the router has it. */
const paths = Object.keys(document.paths)
  .sort((a, b) => a.split("{").length - b.split("{").length)
  .map((path) => ({ path, pattern: patternOf(path) }));

function patternOf(path: string): RegExp {
  const literal = path.replace(/[.*+?^$()|[\]\\]/g, "\\$&");
  return new RegExp(`^${literal.replace(/\{[^}]+\}/g, "[^/]+?")}$`);
}

/**
 * Holds an answer to what the API's document says of it: so that each test of each operation proves its contract too.
 *
 * @throws Error that says what does not fit
 */
export function requireFit({ method, url, status, body }: Answered): void {
  const { pathname } = new URL(url);
  const verb = method.toLowerCase();
  const path = paths.find(({ path, pattern }) => pattern.test(pathname) && document.paths[path][verb])?.path;
  if (!path || typeof body !== "object") return;
  const key = `${method} ${path} ${status}`;
  if (!validators.has(key)) validators.set(key, validatorOf(["paths", path, verb, "responses"], status));
  const fits = validators.get(key);
  if (fits && !fits(body))
    throw new Error(
      `${key} does not fit its contract: ${ajv.errorsText(fits.errors)}: ${JSON.stringify(body)}`,
    );
}

/** Null where the document has no JSON for the status. */
function validatorOf(at: string[], status: number): ValidateFunction | null {
  const responses = at.reduce((part, name) => part[name], document) as Responses;
  const { $ref } = responses[status] ?? {};
  const place = $ref ? $ref.slice(2).split("/") : [...at, String(status)];
  const { content = {} } = (place.reduce((part, name) => part?.[name], document) ?? {}) as Responses[string];
  const type = Object.keys(content).find((each) => /[/+]json\b/.test(each));
  if (!type) return null;
  const pointer = [...place, "content", type, "schema"].map((name) =>
    encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1")),
  );
  return ajv.compile({ $ref: `api#/${pointer.join("/")}` });
}
