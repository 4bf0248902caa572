import { Type } from "typebox";
import { honoursKey, type Operation } from "../../../lib/contract/contract.ts";
import type { JsonSchema } from "../../../lib/contract/json-schema.ts";
import { closed } from "../../../lib/contract/known-keys.ts";
import { FORM } from "../../../services/edge/gateway/access/oauth.ts";
import { VERSION_PREFIX } from "../../../services/edge/gateway/router.ts";
import { COMPONENTS, INFO, TAGS } from "./components.ts";
import { ErrorResponses, headers, isOpen } from "./errors.ts";
import { Components, exampleOf } from "./schemas.ts";
import { webhooks } from "./webhooks.ts";

type Json = Record<string, unknown>;

/** Parts written once and referenced, collected during generation. */
interface Made {
  components: Components;
  errors: ErrorResponses;
}

/** Builds the OpenAPI 3.1 document of the operations. Pure: equal contracts give equal documents. */
export function openApiDocument(operations: readonly Operation[]): Json {
  const made: Made = { components: new Components(), errors: new ErrorResponses() };
  const paths: Record<string, Json> = {};
  for (const op of operations) {
    const url = op.root ? op.url : VERSION_PREFIX + op.url;
    paths[url] = { ...paths[url], [op.method.toLowerCase()]: describe(op, made) };
  }
  const tags = [...new Set(operations.map(tagOf))].sort();
  return {
    openapi: "3.1.0",
    info: INFO,
    servers: [{ url: "/", description: "This installation" }],
    tags: tags.map((name) => ({ name, description: TAGS[name] })),
    paths,
    webhooks: webhooks(made.components),
    components: {
      ...COMPONENTS,
      schemas: { ...COMPONENTS.schemas, ...sorted(made.components.schemas) },
      responses: sorted(made.errors.responses),
      examples: sorted(made.errors.examples),
    },
  };
}

function sorted<T>(object: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the domain of an operation: the service that executes it. */
function tagOf(op: Operation): string {
  return op.action.split(".")[0] as string;
}

function describe(op: Operation, { components, errors }: Made): Json {
  const described: Json = {
    operationId: op.operationId,
    "x-action": op.action,
    tags: [tagOf(op)],
    summary: op.summary,
    description: [op.description, whoMayCall(op)].filter(Boolean).join("\n\n"),
    security: security(op),
  };
  const { scope } = op.access as { scope?: string };
  if (scope) described["x-required-scope"] = scope;
  const parameters = parametersOf(op, components);
  if (parameters.length) described.parameters = parameters;
  if (op.body && op.method !== "OPTIONS" && op.method !== "GET")
    described.requestBody = requestBody(op, components);
  described.responses = { ...errors.of(op), ...results(op, components) };
  return described;
}

const WHO: Record<string, string> = {
  public: "Needs no token.",
  operator: "For the operator of the installation.",
  monitor: "For monitoring: by `METRICS_TOKEN`, or from the machine itself.",
  any: "For agents and people.",
  agent: "For agents.",
  user: "For people: an agent's token is refused.",
  org_admin: "For people with the role `admin`.",
};

const FOR_ADMINS = "For agents, and for people with the role `admin`.";

function whoMayCall({ access }: Operation): string {
  if (access.by === "public" && access.identified) return "A token is optional.";
  const admins = "people" in access && access.people === "org_admin";
  const who = admins ? FOR_ADMINS : (WHO[access.by] as string);
  const { scope } = access as { scope?: string };
  return scope ? `${who} Needs the scope \`${scope}\`.` : who;
}

function security({ access }: Operation): Json[] {
  if (access.by === "public") return access.identified ? [{}, { bearer: [] }] : [];
  if (access.by === "operator" || access.by === "monitor") return [{ [access.by]: [] }];
  const { scope } = access as { scope?: string };
  return [{ bearer: scope ? [scope] : [] }];
}

function parametersOf(op: Operation, components: Components): Json[] {
  const required = new Set(op.params.required as string[] | undefined);
  const of = (place: "path" | "query") =>
    Object.entries((op[place] ?? {}) as Record<string, JsonSchema>).map(
      ([name, { description, ...schema }]) => ({
        name,
        in: place,
        ...(description !== undefined && { description }),
        required: place === "path" || required.has(name),
        schema: components.use(schema),
      }),
    );
  return [...of("path"), ...of("query"), ...headerParameters(op)];
}

const CE_HEADERS = ["ce-specversion", "ce-id", "ce-source", "ce-type", "ce-subject", "ce-time"];

function headerParameters(op: Operation): Json[] {
  const names: string[] = op.consumes === "cloudevents" ? CE_HEADERS : [];
  const all = honoursKey(op) ? ["Idempotency-Key", ...names] : names;
  return all.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

function requestBody(op: Operation, components: Components): Json {
  const fields = op.body as unknown as Record<string, JsonSchema>;
  const [first] = Object.values(fields) as [JsonSchema];
  if (op.consumes === "raw") return { required: true, content: { "*/*": { schema: {} } } };
  if (op.consumes === "cloudevents") return { required: true, content: cloudEvents(first, components) };
  const required = ((op.params.required ?? []) as string[]).filter((name) => name in fields);
  const schema: JsonSchema = closed(op.wholeBody ? first : { type: "object", required, properties: fields });
  if (op.consumes === "form") return { required: true, content: { [FORM]: media(schema, components) } };
  const text = op.textBody && { "text/markdown": { schema: { type: "string" } } };
  return {
    required: required.length > 0,
    content: {
      "application/json": media(schema, components),
      ...text,
      ...(op.form && form(op.form, components)),
    },
  };
}

function form(properties: NonNullable<Operation["form"]>, components: Components): Json {
  return { [FORM]: media(Type.Object(properties) as object as JsonSchema, components) };
}

/** The modes of the CloudEvents HTTP binding: structured, batch and binary. */
function cloudEvents(event: JsonSchema, components: Components): Json {
  const batch = { type: "array", items: event, maxItems: 100 };
  return {
    "application/cloudevents+json": media(event, components),
    "application/json": media(event, components),
    "application/cloudevents-batch+json": media(batch, components),
    "*/*": {
      schema: { description: "Binary mode: the body is `data`, its attributes are the `ce-*` headers." },
    },
  };
}

function media(schema: JsonSchema, components: Components): Json {
  return { schema: components.use(schema), example: exampleOf(schema) };
}

function results(op: Operation, components: Components): Json {
  const known = !isOpen(op);
  return Object.fromEntries(
    Object.entries(op.results as Record<string, JsonSchema | null>).map(([status, schema]) => {
      const response: Json = { description: MEANINGS[status] ?? "Done.", headers: headers(known) };
      if (honoursKey(op))
        (response.headers as Json)["Idempotency-Replayed"] = ref("headers", "Idempotency-Replayed");
      if (op.attachment)
        (response.headers as Json)["Content-Disposition"] = ref("headers", "Content-Disposition");
      if (schema) response.content = content(op, schema, components);
      return [status, response];
    }),
  );
}

function content(op: Operation, schema: JsonSchema, components: Components): Json {
  if (op.produces)
    return Object.fromEntries(op.produces.map((type) => [type, { schema: components.use(schema) }]));
  const text = op.alsoProduces && { [op.alsoProduces]: { schema: { type: "string" } } };
  // The text first: client generators use the first media type.
  return { ...text, "application/json": media(schema, components) };
}

function ref(kind: string, name: string): Json {
  return { $ref: `#/components/${kind}/${name}` };
}

const MEANINGS: Record<string, string> = {
  200: "Done.",
  201: "Created.",
  202: "Accepted and durable.",
  204: "Done. The response has no body.",
  400: "The request or its message is malformed.",
  406: "The caller accepts none of the media types of the response.",
  415: "The media type of the body is not supported.",
  503: "Not ready.",
};
