import { expect, test } from "@jest/globals";
import { Schema } from "mongoose";
import { erasersOf, ownersOf, replacedOf, settlersOf, unerased, unreached } from "../../services/erasers.ts";
import { serviceFactories } from "../../services/index.ts";
import { MODELS } from "../../services/models.ts";
import { type AnyModel, type Erasure, fieldsOf, t, tenantSchema } from "../../storage/model.ts";
import { ofKits } from "../support/kits.ts";
import { sources } from "../support/sources.ts";

const product = sources(
  "{bin,middlewares,mixins,services,storage}/**/*.ts",
  "extensions/*/{*,!(test)/**/*}.ts",
);

test("every collection says how its content is erased", () => expect(unerased()).toEqual([]));

test("a collection that does not say so is found", () => {
  const silent = { name: "notes", erasure: {} };
  expect(unerased([...MODELS, silent, { name: "drafts" }])).toEqual(["notes", "drafts"]);
  const declared = [
    { name: "a", erasure: { agent: "notes.erase" } },
    { name: "b", erasure: { with: "a" } },
    { name: "c", erasure: { none: "counts" } },
    { name: "d", erasure: { replaced: { of: [] } } },
  ];
  expect(unerased(declared)).toEqual([]);
});

/** Names of fields with ids, keys and words of the service. */
const WORDS =
  /(?:^|[._])(?:id|ids|by|key|keys|hash|digest|lease|queue|seed|secret|prefix|status|state|kind|scope|scopes|role|type|action|mode|model)$/;
/** Fields with texts that are no content: names and definitions of the organisation, and words of the service. */
const NO_CONTENT: Record<string, string> = {
  ...(await ofKits("noContent")),
  agents: "name description delivery_endpoint push_format",
  api_keys: "name approval",
  approvals: "assigned escalate_to answered_by_slack_user outbox told",
  audit: "outcome error ip details",
  bundles: "items.source degraded_reasons weights_version",
  channel_feeds: "event_type_glob filter_expression",
  channels: "name description",
  connectors: "name shown_url from source mapping counts",
  deliveries: "matched enrichment_depth source",
  delivery_progress: "absences",
  ...{ device_codes: "client_info issued approval", document_chunks: "labels", document_sources: "name" },
  documents: "source_name sensitivity audience access_change",
  event_types: "sources",
  event_waits: "filter_expression event",
  events: "source position traceparent fanout_owner park_reason",
  findings: "origin",
  idempotency_keys: "fingerprint nonce answer_blob",
  installation: "maintenance log_level",
  interests: "filter_expression enrichment_depth",
  memories: "forgotten_from merge_origin merges announce.what finding_origin",
  memory_erasures: "batch",
  merge_proposals: "pair open_pair",
  oauth_clients: "name uri redirect_uris grant_types",
  oauth_devices: "resource grant",
  oauth_grants: "client_name redirect_uri code_challenge resource approval",
  process_templates: "slug name description goal_template steps",
  projects: "name target_date",
  push_endpoints: "endpoint last_error",
  relationships: "edge",
  replays: "from_event waiting_for next",
  runs: "progress outcome snapshots waits",
  schedules: "cron time_zone on_missed",
  search_entries: "thread position embedded",
  ...{ search_state: "value", sessions: "client_name client_version", signing_keys: "jwk" },
  specialist_loads: "name",
  specialists: "name system_prompt memory_search_directives output_format_rules description",
  ...{ teams: "name description", tenants: "slug name routing_changes", traffic: "unit counts types" },
  users: "email display_name password totp.recovery totp.version identity",
  webhook_bodies: "topic",
  webhook_logs: "requests.outcome requests.signature requests.event_is",
  webhooks: "name source mapping signature",
};

/** The fields with texts that are declared neither as content nor as secrets. */
const undeclared = (schema: Parameters<typeof fieldsOf>[0]) =>
  fieldsOf(schema)
    .filter(
      ({ type, content, sealed }) => (type === String || type === Schema.Types.Mixed) && !content && !sealed,
    )
    .map(({ path }) => path)
    .filter((path) => !WORDS.test(path));

test("every field with texts is declared: as content, or here", () => {
  const found = MODELS.map(({ name, schema }) => [name, undeclared(schema).join(" ")]).filter(
    ([, names]) => names,
  );
  expect(Object.fromEntries(found)).toEqual(NO_CONTENT);
  const fields = {
    ...{ note: t.string(), said: t.nullable(t.text()), any: t.optional(t.mixed<object>()) },
    notes: t.array(t.string()),
    list: t.large(t.subdocuments({ why: t.string(), heard: t.text(), at: t.date() })),
  };
  expect(undeclared(tenantSchema(fields))).toEqual(["note", "any", "notes", "list.why"]);
});

/** Content that no erasure of a person has to look for, and why. */
const UNREACHED = { memory_erasures: "an erasure in progress clears its own row" };

test("an erasure of a person reaches all content, in rows and in blobs", () => {
  const found = unreached().map((field) => field.split(".")[0]);
  expect([...new Set(found)]).toEqual(Object.keys(UNREACHED));
  const schema = tenantSchema({ said: t.text(), note: t.string(), hash: t.string() });
  const of = (name: string, erasure: Erasure, blobs?: string[]) =>
    ({ name, erasure, schema, move: { stage: 0 }, ...(blobs && { blobs }) }) as AnyModel;
  const replaced = { of: [] };
  const models = [
    of("silent", { none: "counts" }),
    of("by_agent", { agent: "notes.erase", memories: "notes.erase" }),
    of("by_subject", { subject: "notes.erase" }, ["hash"]),
    of("of_gone", { with: "by_subject" }),
    of("of_kept", { with: "by_agent" }),
    of("replaced", { replaced }, ["hash"]),
    of("whole", { agent: "notes.erase", replaced: { ...replaced, size: "size" } }, ["hash"]),
    of("made", { follows: "whole" }),
  ];
  expect(unreached(models)).toEqual(["silent.said", "by_agent.said", "of_kept.said", "replaced.hash"]);
});

test("what search has of replaced texts is replaced with them", () => {
  const searched = ["handoffs", "outputs"];
  const settled = replacedOf().filter(({ erasure: { replaced } }) => replaced.settle);
  expect(settled.map(({ name }) => name)).toEqual(searched);
});

test("no collection is opened without a model", () => {
  const inline = product.filter(({ text }) => /\.collection(<\w+>)?\(\{/.test(text)).map(({ file }) => file);
  // Its rows go with the last row that references them.
  expect(inline).toEqual(["storage/blobs/gridfs.ts"]);
});

test("every named eraser is an action, and every named owner a field", () => {
  const text = product.map((each) => each.text).join("\n");
  const kinds = ["agent", "subject", "memories", "mentions"] as const;
  for (const name of [...kinds.flatMap((kind) => erasersOf(kind)), ...settlersOf()]) {
    const [service = "", action = ""] = name.split(".");
    expect(Object.keys(serviceFactories)).toContain(service);
    expect(text).toMatch(new RegExp(`^\\s+${action}: idempotent<`, "m"));
  }
  const schemas = new Map(
    MODELS.map((model) => [model.name, (model as unknown as { schema: { paths: object } }).schema.paths]),
  );
  for (const { name, field } of ownersOf()) expect(Object.keys(schemas.get(name) ?? {})).toContain(field);
});
