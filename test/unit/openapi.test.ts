import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormatsModule from "ajv-formats";
import { Type } from "typebox";
import { codesOf } from "../../docs/generate/openapi/errors.ts";
import { openApiDocument } from "../../docs/generate/openapi/openapi.ts";
import { type Operation, operation } from "../../lib/contract/contract.ts";
import { FAULTS, type FaultCode, isRetryable } from "../../lib/contract/faults.ts";
import { operations } from "../../services/contracts.ts";
import { LLMS_TEXT, SKILL_DESCRIPTION } from "../../services/edge/gateway/pages/docs.ts";
import * as channels from "../../services/sense/channels/channels.contract.ts";
import { ACCESS } from "../support/access-table.ts";
import { loadKits, ofKits } from "../support/kits.ts";

// biome-ignore lint/suspicious/noExplicitAny: the document is walked in many ways
type Json = any;
const document = openApiDocument(operations) as Json;
const pagesOfKits = await ofKits("pages");
/** Reads by POST: they honour no Idempotency-Key. */
const READS = [
  ...["/v1/agents/{agent_id}/interests:test", "/v1/agents/{agent_id}/replays:count", "/v1/documents/search"],
  ...["/v1/ingest/webhooks:test", "/v1/ingest/webhooks/{webhook_id}:test", "/v1/memories/search"],
  ...["/v1/oauth/request", "/v1/outputs/search", "/v1/schedules:test", "/v1/tenants/{tenant_id}/export"],
  ...["/v1/tenants/{tenant_id}/export/content", "/v1/tenants/{tenant_id}/export/rows"],
];
const METHODS = ["get", "post", "put", "patch", "delete", "options"];
const described: [string, string, Json][] = Object.entries(document.paths).flatMap(([path, item]) =>
  METHODS.filter((method) => (item as Json)[method]).map(
    (method) => [method, path, (item as Json)[method]] as [string, string, Json],
  ),
);

function targetOf(node: Json): Json {
  if (!node.$ref) return node;
  const keys = (node.$ref as string).slice(2).split("/");
  return targetOf(keys.reduce((at: Json, key) => at[key], document));
}

/** Whether a schema, the one that it refers to, or one of its alternatives has a description. */
function isDescribed(node: Json): boolean {
  return Boolean(targetOf(node).description ?? node.description) || (node.anyOf ?? []).some(isDescribed);
}

describe("the document", () => {
  test("has every operation once, under its path", () => {
    const declared = operations.map((op) => `${op.method.toLowerCase()} ${op.root ? "" : "/v1"}${op.url}`);
    expect(described.map(([method, path]) => `${method} ${path}`).sort()).toEqual(declared.sort());
  });

  test("says who may call each of them", () => {
    for (const { method, path, scope, who } of ACCESS) {
      const written = document.paths[path][method.toLowerCase()];
      expect([path, written["x-required-scope"] ?? null]).toEqual([path, scope]);
      if (scope) expect(written.description).toContain(`\`${scope}\``);
      const ways = { public: 0, "public?": 2 }[who as "public"] ?? 1;
      expect([path, written.security.length]).toEqual([path, ways]);
    }
  });

  test("describes every parameter and every field of a body", () => {
    const missing: string[] = [];
    const visit = (given: Json, at: string) => {
      const node = targetOf(given);
      for (const each of [...(node.anyOf ?? []), ...(node.items ? [node.items] : [])]) visit(each, at);
      for (const [name, field] of Object.entries<Json>(node.properties ?? {})) {
        if (!isDescribed(field)) missing.push(`${at} ${name}`);
        visit(field, `${at} ${name}`);
      }
    };
    for (const [method, path, op] of described) {
      for (const each of (op.parameters ?? []).map(targetOf)) {
        if (!isDescribed(each) && !isDescribed(each.schema)) missing.push(`${method} ${path} ${each.name}`);
      }
      for (const { schema } of Object.values<Json>(op.requestBody?.content ?? {}))
        visit(schema, `${method} ${path}`);
    }
    expect(missing).toEqual([]);
  });

  test("bounds every whole number that callers give", () => {
    // A poll corrects its limit.
    const exempt = ["get /v1/delivery/poll limit"];
    const unbounded = described.flatMap(([method, path, op]) =>
      (op.parameters ?? [])
        .filter(({ schema }: Json) => schema?.type === "integer" && schema.maximum === undefined)
        .map(({ name }: Json) => `${method} ${path} ${name}`),
    );
    expect(unbounded).toEqual(exempt);
  });

  test("has pages of the sizes that are promised: 50 of at most 200, unless it is said here", () => {
    const sizes = described.flatMap(([method, path, op]) => {
      const { schema } = op.requestBody?.content["application/json"] ?? {};
      const inQuery = (op.parameters ?? []).find(({ name }: Json) => name === "limit")?.schema;
      const limit = inQuery ?? (schema && targetOf(schema).properties?.limit);
      const { minimum, maximum, default: size } = limit ?? {};
      return limit ? [[`${method} ${path}`, [minimum, size, maximum].join(" ")] as const] : [];
    });
    expect(sizes.length).toBeGreaterThan(45);
    expect(Object.fromEntries(sizes.filter(([, size]) => size !== "1 50 200"))).toEqual({
      ...pagesOfKits,
      ...{ "get /v1/agents/{agent_id}/sessions": "1 20 100", "get /v1/delivery/poll": " 100 " },
      ...{ "post /v1/delivery/next": " 100 ", "get /v1/documents": "1 20 100" },
      ...{ "get /v1/documents/{document_id}/chunks": "1 20 100", "post /v1/documents/search": "1 10 50" },
      ...{ "get /v1/exemplars": "1  200", "get /v1/findings": "1 50 100" },
      ...{ "get /v1/memories/findings": "1 10 50", "get /v1/memories/namespaces": "1 100 200" },
      ...{ "get /v1/memories/{id}/relationships": "1 200 200", "post /v1/memories/search": "1 10 50" },
      ...{ "post /v1/outputs/search": "1 10 50", "get /v1/process-templates": "1  200" },
      ...{ "get /v1/runs": "1  200" },
    });
  });

  test("offers Idempotency-Key where the edge honours it", () => {
    for (const [method, path, op] of described) {
      const offered = (op.parameters ?? []).some(
        (each: Json) => each.$ref === "#/components/parameters/Idempotency-Key",
      );
      const [who = {}] = op.security;
      const changes = ["post", "put", "patch"].includes(method) && !READS.includes(path);
      const honoured = changes && ("bearer" in who || "operator" in who);
      expect([method, path, offered]).toEqual([method, path, honoured]);
    }
  });

  test("has no alternatives that break client generators or their readability", () => {
    const wrong: string[] = [];
    const visit = (node: Json, at: string) => {
      if (node === null || typeof node !== "object") return;
      const kinds = (node.anyOf ?? []).map(({ $ref, type }: Json) =>
        type === "object" ? {} : ($ref ?? type),
      );
      if (kinds.includes(undefined) || new Set(kinds).size < kinds.length) wrong.push(`${at}: ${kinds}`);
      if (node.anyOf?.some(({ items }: Json) => items?.properties))
        wrong.push(`${at}: a list of what has no name`);
      if (node.type === "boolean" && "const" in node) wrong.push(`${at}: ${node.const} alone`);
      for (const [key, value] of Object.entries(node)) visit(value, `${at}/${key}`);
    };
    visit(document.paths, "paths");
    visit(document.components.schemas, "schemas");
    expect(wrong).toEqual([]);
  });

  test("names the text first where an answer is a text or JSON: generators read what comes first", () => {
    const { content } = document.paths["/v1/handoffs/resume"].post.responses[200];
    expect(Object.keys(content)).toEqual(["text/markdown", "application/json"]);
  });

  test("gives examples that fit their schemas", () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: true });
    (addFormatsModule as unknown as (ajv: Ajv2020) => void)(ajv);
    ajv.addSchema({ ...document, $id: "doc" });
    const wrong: string[] = [];
    const visit = (node: Json, at: string) => {
      if (node === null || typeof node !== "object") return;
      if (node.schema && node.example !== undefined) {
        const schema = JSON.parse(JSON.stringify(node.schema).replaceAll('"#/', '"doc#/'));
        if (!ajv.validate(schema, node.example)) wrong.push(`${at}: ${ajv.errorsText()}`);
      }
      for (const [key, value] of Object.entries(node)) visit(value, `${at}/${key}`);
    };
    visit(document.paths, "paths");
    expect(wrong).toEqual([]);
  });
});

const STATUSES = {
  400: ["invalid_event", "validation_error", "validation_failed"],
  ...{ 401: ["authentication_failed", "totp_required"], 403: ["forbidden", "insufficient_scope"] },
  ...{ 404: ["not_found"], 405: ["method_not_allowed"] },
  409: ["conflict", "step_not_completable", "step_not_ready", "step_not_reopenable", "step_not_skippable"],
  ...{ 413: ["payload_too_large"], 415: ["unsupported_media_type"], 422: ["business_rule_violation"] },
  ...{ 429: ["rate_limited"], 500: ["internal_error"], 503: ["service_unavailable"] },
};

describe("the catalogue of errors and the document", () => {
  const { Error: envelope } = document.components.schemas;

  test("have the codes and statuses that are promised", () => {
    const statuses = Object.groupBy(Object.keys(FAULTS).sort(), (code) => FAULTS[code as FaultCode].status);
    expect(statuses).toEqual(STATUSES);
    const retryable = (Object.keys(FAULTS) as FaultCode[]).filter(isRetryable);
    expect(retryable.map((code) => FAULTS[code].status)).toEqual([429, 500, 503]);
  });

  test("agree on the codes, both ways", () => {
    expect(envelope.properties.error.properties.code.enum.toSorted()).toEqual(Object.keys(FAULTS).sort());
    for (const [code, { status, means }] of Object.entries(FAULTS)) {
      expect(document.info.description).toContain(`| \`${code}\` | ${status} |`);
      expect(document.info.description).toContain(means);
    }
    for (const [code, example] of Object.entries<Json>(document.components.examples))
      expect([code, example.value.error.code]).toEqual([code, code]);
  });

  test("agree on the status of each response and its codes", () => {
    for (const [method, path, op] of described) {
      for (const [status, response] of Object.entries<Json>(op.responses)) {
        if (!response.$ref) continue;
        const { content } = document.components.responses[response.$ref.split("/").at(-1)];
        for (const code of Object.keys(content["application/json"].examples)) {
          const known = FAULTS[code as keyof typeof FAULTS];
          expect([method, path, code, String(known?.status)]).toEqual([method, path, code, status]);
        }
      }
    }
  });

  test("name every code that a contract declares", () => {
    const thing = operation({
      ...{ action: "a.b", route: "POST /a", summary: "", access: { by: "agent", scope: "send" } },
      ...{ body: { a: Type.String() }, results: { 204: null }, errors: ["business_rule_violation"] },
    }) as unknown as Operation;
    expect(codesOf(thing).sort()).toEqual(
      [
        ...["authentication_failed", "business_rule_violation", "conflict", "forbidden"],
        ...["insufficient_scope", "internal_error", "payload_too_large", "rate_limited"],
        ...["service_unavailable", "unsupported_media_type", "validation_failed"],
      ].sort(),
    );
  });
});

test("the text for agents names paths and fields that there are, and the plugin's skill is that text", () => {
  const bodies = (path: string) =>
    METHODS.flatMap((method) => {
      const schema = document.paths[path]?.[method]?.requestBody?.content["application/json"]?.schema;
      return schema ? Object.keys(targetOf(schema).properties ?? {}) : [];
    });
  const paths = [...LLMS_TEXT.matchAll(/`(?:GET |POST )?(\/[^`?]*)/g)].map(([, path]) => path as string);
  expect(paths.length).toBeGreaterThan(8);
  expect(paths.filter((path) => !document.paths[path])).toEqual([]);
  expect(bodies("/v1/agents/{agent_id}/interests")).toEqual(
    expect.arrayContaining(["event_type", "filter_expression"]),
  );
  expect(bodies("/v1/delivery/next")).toEqual(expect.arrayContaining(["ack", "nack", "limit", "wait"]));
  expect(bodies("/v1/memories")).toEqual(expect.arrayContaining(["title", "supersedes_id"]));
  const skill = readFileSync(
    join(import.meta.dirname, "../../packages/integrations/claude-code/skills/sensorium/SKILL.md"),
    "utf8",
  );
  expect(skill).toBe(`---\nname: sensorium\ndescription: ${SKILL_DESCRIPTION}\n---\n\n${LLMS_TEXT}`);
});

test("two different schemas cannot have one name", () => {
  const make = (field: string) =>
    operation({
      ...{ action: `a.${field}`, route: `GET /${field}`, summary: "", access: { by: "public" } },
      results: { 200: Type.Object({ [field]: Type.String() }, { title: "Same" }) },
    }) as unknown as Operation;
  expect(() => openApiDocument([make("x"), make("y")])).toThrow("Two different schemas have the title Same");
});

type Described = { operationId: string; "x-action": string };

const idsOf = ({ paths, webhooks }: Json) =>
  Object.entries<Record<string, Described>>({ ...paths, ...webhooks }).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId }]) => [`${method} ${path}`, operationId] as const),
  );
const ids = idsOf(document).map(([, id]) => id);
const words = (id: string) => id.split(/(?=[A-Z])/).map((word) => word.toLowerCase());

/** Beginnings of an id. */
const VERBS = [
  ..."accept ack add answer ask assemble assign attach author begin browse cancel".split(" "),
  ..."change check cite claim close complete confirm count create decide decline".split(" "),
  ..."delete discard dismiss download drain email end erase explain export extend".split(" "),
  ..."finish forget get import issue list load log look nack offer pin poll".split(" "),
  ..."promote propose publish push put read receive register reject remove rename".split(" "),
  ..."renew reopen replay resolve restore resume retry revoke rotate run save".split(" "),
  ...["search", "send", "set", "skip", "start", "stream", "supersede", "test", "unload", "unpin", "update"],
  ...["upload", "validate", "verify", "write"],
  ...(await loadKits()).flatMap(({ verbs = [] }) => verbs),
];

/** Words of more than four letters that TypeScript or Python keep, and that begin with a lower case letter. */
const KEPT =
  /^(await|break|catch|class|const|continue|debugger|default|delete|except|export|extends|finally|function|global|import|lambda|nonlocal|raise|return|super|switch|throw|typeof|while|yield)$/;

test("each operation has an id in camel case that is a name in TypeScript and Python", () => {
  expect(ids.length).toBe(operations.length + 1);
  expect(ids.filter((id) => !/^[a-z]+([A-Z0-9][a-z0-9]*)+$/.test(id) || KEPT.test(id))).toEqual([]);
});

test("ids begin with a verb, and have a word for what it acts on", () => {
  expect(ids.filter((id) => !VERBS.includes(words(id)[0] as string) || words(id).length < 2)).toEqual([]);
  const used = new Set(ids.map((id) => words(id)[0]));
  expect(VERBS.filter((verb) => !used.has(verb))).toEqual([]);
});

test("no two ids differ only by case or by underscores", () => {
  const spelt = Map.groupBy(ids, (id) => id.toLowerCase());
  expect([...spelt.values()].filter((same) => same.length > 1)).toEqual([]);
});

test("ids depend on nothing but their own contracts", () => {
  const reversed = openApiDocument(operations.toReversed());
  expect(Object.fromEntries(idsOf(reversed))).toEqual(Object.fromEntries(idsOf(document)));
});

test("each operation names its action, under which clients, tools and the audit log know it", () => {
  const named = Object.entries<Record<string, Described>>(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, op]) => `${method} ${path} ${op["x-action"]}`),
  );
  const declared = operations.map(
    ({ method, url, root, action }) => `${method.toLowerCase()} ${root ? "" : "/v1"}${url} ${action}`,
  );
  expect(named.toSorted()).toEqual(declared.toSorted());
});

test("an id is the name by which the contract exports the operation", () => {
  const { action } = channels.addChannelMember;
  expect(operations.find((op) => op.action === action)?.operationId).toBe("addChannelMember");
});
