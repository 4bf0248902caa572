import type { CallOptions, PagedCall } from "../operation.ts";
import { findAgentId } from "./agent-names.ts";
import { type Command, type Context, readList, text, word } from "./command.ts";
import { readJson, readObject } from "./input.ts";
import { LIMIT, takeFirst } from "./paged.ts";
import { age, formatDetails } from "./table.ts";
import { UsageError } from "./usage.ts";

type Row = Record<string, unknown>;
type Call = (params: object, options: CallOptions) => Promise<Row>;

/** An option of `create`: the field that it sets. */
interface Field {
  field: string;
  value: string;
  means: string;
  required?: true;
  /** Default: the text as it is. */
  read?: (context: Context, option: string) => unknown;
}

/** A resource with its operations to create, list, show and delete it, as the contracts have them. */
interface Resource {
  /** The domain of the client. */
  service: string;
  /** The names of the operations there; a missing one has no command. */
  create: string;
  list?: string;
  show?: string;
  delete?: string;
  /** The parameter that names one, and how help calls it. Default word: `ID`. */
  id: string;
  word?: string;
  /** Belongs to an agent, which is the first word of each command. */
  ofAgent?: true;
  /** The word of `create`: its name, or the whole as JSON. */
  from: "NAME" | "JSON" | "";
  fields?: Record<string, Field>;
  defaults?: Row;
  columns?: string[];
  example: string;
}

const JSON_OR_NAME = (context: Context, option: string) => {
  const given = text(context, option) as string;
  return /^[{@-]/.test(given) ? readJson(context.host, given, `--${option}`) : given;
};
const SOURCE: Field = {
  ...{ field: "source", value: "NAME", required: true as const },
  means: "the sender; a part of the event type",
};
const MAPPING: Field = {
  ...{ field: "mapping", value: "JSON", required: true as const, read: JSON_OR_NAME },
  means: "how a payload becomes an event: JSON, or the name of a preset",
};

const RESOURCES: Record<string, Resource> = {
  agent: {
    ...{ service: "agents", create: "create", id: "agent_id", word: "AGENT", from: "NAME" },
    fields: {
      mode: { field: "delivery_mode", value: "poll|push|sse", means: "how it gets events; default: poll" },
      endpoint: { field: "delivery_endpoint", value: "URL", means: "where its deliveries are pushed" },
      description: { field: "description", value: "TEXT", means: "for people" },
      team: { field: "team_id", value: "ID", means: "its team" },
    },
    defaults: { delivery_mode: "poll" },
    example: "agent create billing --mode push --endpoint https://agent.example.com/events",
  },
  key: {
    ...{
      service: "keys",
      create: "create",
      list: "list",
      delete: "revoke",
      id: "key_id",
      from: "",
      ofAgent: true,
    },
    fields: {
      scopes: { field: "scopes", value: "A,B", means: "what it allows", required: true, read: readList },
      name: { field: "name", value: "TEXT", means: "for people" },
    },
    columns: ["id", "state", "scopes", "last_used_at", "created_at", "name"],
    example: "key create billing --scopes send,receive",
  },
  team: {
    ...{ service: "teams", create: "create", list: "list", id: "team_id", from: "NAME" },
    fields: { description: { field: "description", value: "TEXT", means: "for people" } },
    columns: ["id", "created_at", "name"],
    example: "team create Support",
  },
  webhook: {
    ...{ service: "ingest", create: "createWebhook", list: "listWebhooks", delete: "deleteWebhook" },
    ...{ id: "webhook_id", from: "NAME" },
    fields: {
      source: SOURCE,
      mapping: MAPPING,
      secret: { field: "signing_secret", value: "TEXT", means: "the sender's secret; default: a new one" },
    },
    columns: ["id", "source", "created_at", "url", "name"],
    example: "webhook create GitHub --source github --mapping github",
  },
  connector: {
    ...{ service: "connectors", create: "create", list: "list", show: "get", delete: "delete" },
    ...{ id: "connector_id", from: "NAME" },
    fields: {
      kind: { field: "kind", value: "amqp091|amqp10", means: "the broker's protocol", required: true },
      broker: { field: "url", value: "URL", means: "its address with credentials", required: true },
      queue: { field: "queue", value: "NAME", means: "the queue to read, for amqp091" },
      address: { field: "address", value: "NAME", means: "the address to read, for amqp10" },
      source: SOURCE,
      mapping: MAPPING,
    },
    columns: ["id", "kind", "state", "source", "name"],
    example:
      "connector create Orders --kind amqp091 --broker amqps://user:password@rabbit.example.com/ --queue orders --source erp --mapping @mapping.json",
  },
  template: {
    ...{
      service: "templates",
      create: "author",
      list: "list",
      show: "get",
      id: "slug",
      word: "SLUG",
      from: "JSON",
    },
    columns: ["slug", "version_num", "name"],
    example: "template create @release.json",
  },
};

function commandsOf([noun, of]: [string, Resource]): [string, Command][] {
  const owner = of.ofAgent ? "AGENT " : "";
  const one = `${owner}${of.word ?? "ID"}`;
  const as = ["person", "agent"] as const;
  const made = (action: string, does: string, command: Pick<Command, "takes" | "run"> & Partial<Command>) =>
    [`${noun} ${action}`, { does, as, ...command }] as [string, Command];
  const article = /^[aeiou]/.test(noun) ? "an" : "a";
  return [
    made("create", `Creates ${article} ${noun}${of.from === "JSON" ? ", or a new version of it" : ""}.`, {
      takes: `${owner}${of.from}`.trim(),
      options: optionsOf(of.fields),
      examples: [of.example],
      run: (context) => create(context, of),
    }),
    ...(of.list
      ? [
          made("list", `Lists ${noun}s${of.ofAgent ? " of an agent" : ""}.`, {
            ...{ takes: owner.trim(), options: LIMIT, run: (context) => list(context, noun, of) },
          }),
        ]
      : []),
    ...(of.show
      ? [made("show", `Shows ${article} ${noun}.`, { takes: one, run: (context) => show(context, of) })]
      : []),
    ...(of.delete
      ? [
          made("delete", `Deletes ${article} ${noun}.`, {
            takes: one,
            run: (context) => remove(context, of),
          }),
        ]
      : []),
  ];
}

function optionsOf(fields: Record<string, Field> = {}): NonNullable<Command["options"]> {
  const shown = ({ value, means, required }: Field) => ({
    value,
    means: required ? `${means}; required` : means,
  });
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, shown(field)]));
}

async function create(context: Context, of: Resource): Promise<void> {
  const at = of.ofAgent ? 1 : 0;
  const whole = of.from === "JSON" ? await readObject(context.host, word(context, at, "JSON"), "JSON") : {};
  const params = {
    ...of.defaults,
    ...whole,
    ...(of.from === "NAME" && { name: word(context, at, "NAME") }),
    ...(await readFields(context, of.fields)),
    ...(await ownerOf(context, of)),
  };
  const made = await call(context, of, of.create)(params, { signal: context.signal });
  context.print(made, () => details(made));
}

async function list(context: Context, noun: string, of: Resource): Promise<void> {
  const rows = await takeFirst(
    context,
    call(context, of, of.list as string) as unknown as PagedCall<object, unknown, Row>,
    await ownerOf(context, of),
  );
  const columns = (of.columns ?? []).map((name): [string, (row: Row) => string | null] => [
    name
      .replace(/_(at|num)$/, "")
      .replaceAll("_", " ")
      .toUpperCase(),
    (row) => (name.endsWith("_at") ? age(row[name] as string | null) : cell(row[name])),
  ]);
  context.table(rows, rows, columns, `No ${noun}s.`);
}

async function show(context: Context, of: Resource): Promise<void> {
  const found = await call(
    context,
    of,
    of.show as string,
  )(await idOf(context, of), { signal: context.signal });
  context.print(found, () => details(found));
}

async function remove(context: Context, of: Resource): Promise<void> {
  const id = await idOf(context, of);
  const typed = context.words.at(-1) as string;
  await call(context, of, of.delete as string)(id, { signal: context.signal });
  context.print({ deleted: typed }, `${typed} deleted.`);
}

function call({ client }: Context, { service }: Resource, name: string): Call {
  return (client as unknown as Record<string, Record<string, Call>>)[service]?.[name] as Call;
}

async function idOf(context: Context, of: Resource): Promise<Row> {
  const name = of.word ?? "ID";
  const typed = word(context, of.ofAgent ? 1 : 0, name);
  const id = name === "AGENT" ? await findAgentId(context, typed) : typed;
  return { ...(await ownerOf(context, of)), [of.id]: id };
}

async function ownerOf(context: Context, { ofAgent }: Resource): Promise<Row> {
  return ofAgent ? { agent_id: await findAgentId(context, word(context, 0, "AGENT")) } : {};
}

async function readFields(context: Context, fields: Record<string, Field> = {}): Promise<Row> {
  const missing = Object.keys(fields).filter(
    (option) => fields[option]?.required && text(context, option) === undefined,
  );
  if (missing.length) throw new UsageError(`${missing.map((each) => `--${each}`).join(", ")}: missing.`);
  const given = Object.entries(fields).filter(([option]) => text(context, option) !== undefined);
  const read = given.map(async ([option, field]) => [
    field.field,
    await (field.read ?? text)(context, option),
  ]);
  return Object.fromEntries(await Promise.all(read));
}

/** Returns every field that has a value, one per line. */
function details(row: Row): string {
  const label = (name: string) => `${name[0]?.toUpperCase()}${name.slice(1).replaceAll("_", " ")}`;
  return formatDetails(Object.entries(row).map(([name, value]) => [label(name), cell(value)]));
}

function cell(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  const isPlain = !Array.isArray(value) || value.every((each) => typeof each === "string");
  if (Array.isArray(value) && isPlain) return value.join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

export const RESOURCE_COMMANDS: Record<string, Command> = Object.fromEntries(
  Object.entries(RESOURCES).flatMap(commandsOf),
);
