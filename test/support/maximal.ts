import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Collection } from "mongodb";
import { MODELS } from "../../services/models.ts";
import { openStore } from "../../storage/connection.ts";
import { largeFields, type Model } from "../../storage/model.ts";
import { ofKits } from "./kits.ts";

// biome-ignore lint/suspicious/noExplicitAny: rows of all collections
type Row = any;

/** Bytes that the rows of a collection with large fields have together, and limits of their number. */
const BYTES = 12_000_000;
const [FEWEST, MOST] = [14, 200];

const text = (length: number) => "x".repeat(length);
const times = <T>(length: number, of: (i: number) => T): T[] => Array.from({ length }, (_, i) => of(i));

/** Makes the large fields of a row as long as callers can. A collection that has such fields needs a line here. */
const MAXIMAL: Record<string, (row: Row) => Row> = {
  ...(await ofKits("maximal")),
  approvals: ({ asked_json }) => ({
    asked_json: JSON.stringify({ ...JSON.parse(asked_json), question: text(16_000) }),
    answer_text: text(8_000),
  }),
  audit: () => ({ details: JSON.stringify({ ids: times(500, (i) => `mem_${i}_${text(20)}`) }) }),
  bundles: ({ items }) => ({
    rendered_brief: text(100_000),
    items: times(50, (rank) => ({
      ...{ kind: "memory", item_id: "0", title: text(200), score: 1, source: "s", why: text(200), rank },
      ...items[0],
    })),
  }),
  deliveries: ({ _id, tenant_id, dlq_key }) => {
    if (!dlq_key) return { log: text(16_384), log_at: new Date() };
    const payload_json = JSON.stringify({ text: text(900_000) });
    return {
      ...{ agent_id: null, event_id: null, payload_json, source: "s", size: payload_json.length },
      origin: { inlet: "ingest", registration_id: _id, default_id: tenant_id, headers: {} },
    };
  },
  document_chunks: () => ({ text: text(4_000) }),
  // An audience of others hides a document.
  documents: () => ({ losses: times(102, () => ({ kind: text(100), place: text(300), count: 1 })) }),
  event_types: ({ type }) => ({
    sources: Object.fromEntries(times(10, (i) => [`:https://example%2Ecom/${i}/${type}/${text(4_000)}`, 1])),
  }),
  events: ({ envelope }) => {
    const whole = JSON.stringify({ ...JSON.parse(envelope), data: text(900_000) });
    return { envelope: whole, size: whole.length };
  },
  handoffs: () => ({
    summary: text(20_000),
    payload: JSON.stringify({ next_action: text(60_000) }),
    citations: times(200, () => ({ memory_id: "0199c0de-7a11-7c3e-9f00-5a1b2c3d4e5f", title: text(200) })),
    artifacts: times(100, () => text(500)),
  }),
  idempotency_keys: () => ({}),
  memories: () => ({ content: text(32_768), metadata: JSON.stringify({ notes: text(65_000) }) }),
  memory_erasures: () => ({}),
  merge_proposals: () => ({ merged_content: text(65_000) }),
  output_chunks: () => ({ text: text(4_000) }),
  outputs: () => ({
    metadata_json: JSON.stringify({ notes: text(65_000) }),
    references_ids: times(200, () => text(36)),
  }),
  process_templates: ({ steps: [step] }) => ({
    description: text(2_000),
    steps: times(25, (i) => ({ ...step, step_key: `s${i}`, instructions: text(32_000) })),
  }),
  relationships: () => ({ metadata: JSON.stringify({ notes: text(16_000) }) }),
  run_artifacts: ({ pointer }) => ({ pointer: { ...pointer, uri: `https://example.com/${text(3_900)}` } }),
  run_facts: ({ facts }) => ({ facts: facts.map((fact: Row) => ({ ...fact, notes: text(8_000) })) }),
  runs: ({ plan, progress: [progress] }) => {
    const [step] = JSON.parse(plan);
    const steps = times(25, (i) => ({ ...step, step_key: `s${i}`, instructions: text(32_000) }));
    return { plan: JSON.stringify(steps), progress: times(25, () => progress) };
  },
  schedules: () => ({ content: JSON.stringify({ data: text(900_000) }) }),
  search_erasures: () => ({}),
  specialists: () => ({ system_prompt: text(100_000), memory_search_directives: text(100_000) }),
  traffic: ({ types }) => ({
    types: Object.fromEntries(
      times(100, (i) => [`:com%2Eexample%2E${i}${text(200)}`, Object.values(types ?? {})[0] ?? {}]),
    ),
  }),
  webhook_logs: () => ({}),
};

/**
 * Copies a row of each of a tenant's collections many times, in the data directory of a server that does not run, with
 * large fields of the greatest length.
 *
 * @throws Error if a collection has large fields that `MAXIMAL` does not know
 */
export function multiplyRows(dataDir: string, tenant_id: string, mongoUrl = ""): Promise<unknown> {
  // In a separate process, whose memory and threads end with it.
  return promisify(execFile)(process.execPath, [import.meta.filename, dataDir, tenant_id, mongoUrl]);
}

async function multiply(dataDir: string, tenant_id: string, mongoUrl: string): Promise<void> {
  const store = await openStore({ DATA_DIR: dataDir, MONGO_URL: mongoUrl || null });
  try {
    for (const model of MODELS as readonly Model<never>[]) {
      store.collection(model);
      await store.ready();
      // As it is, without what the product's collections do besides.
      const rows = store.connection.db?.collection(model.name) as unknown as Collection<Row>;
      const large = largeFields(model.schema as never);
      const maximal = MAXIMAL[model.name];
      if (large.length > 0 && !maximal)
        throw new Error(
          `${model.name} has the large fields ${large}: say in test/support/maximal.ts how large`,
        );
      for (const first of await samples(rows, tenant_id)) {
        const whole = { ...first, ...maximal?.(first) };
        const count = Math.min(MOST, Math.max(FEWEST, Math.ceil(BYTES / JSON.stringify(whole).length)));
        const { _id, tenant_id: __, ...changed } = { ...maximal?.(first) };
        if (Object.keys(changed).length > 0)
          await rows.updateOne({ _id: first._id, tenant_id }, { $set: changed });
        const unique = uniqueFields(model);
        const copies = times(count, (i) => {
          const present = unique.filter((field) => whole[field] != null);
          const others = present.map((field) => [field, other(whole[field], i + 1)]);
          return { ...whole, ...Object.fromEntries(others) };
        });
        await rows.insertMany(copies);
      }
    }
  } finally {
    await store.close();
  }
}

/** Returns a row to copy; of deliveries one that is dead and one that is not. */
async function samples(rows: Collection<Row>, tenant_id: string): Promise<Row[]> {
  const found = await rows.find({ tenant_id }, { limit: 50 }).toArray();
  const own = found.filter(({ _id }) => _id !== tenant_id);
  return [...Map.groupBy(own, ({ state, dlq_key }) => `${state} ${dlq_key === undefined}`).values()]
    .map(([row]) => row)
    .slice(0, 2);
}

const uniqueFields = ({ schema }: Model<never>): string[] => {
  const unique = schema.indexes().filter(([, options]) => options.unique);
  return ["_id", ...new Set(unique.flatMap(([fields]) => Object.keys(fields)))].filter(
    (field) => field !== "tenant_id",
  );
};

/** Returns another value of the same form. */
function other(value: unknown, i: number): unknown {
  if (typeof value === "number") return value + 1_000 * i;
  if (typeof value !== "string") return value;
  const copied = value.slice(0, -4) + i.toString(16).padStart(4, "0");
  // One in 65,536 ends so itself.
  return copied === value ? `${value.slice(0, -4)}ffff` : copied;
}

if (process.argv[1] === import.meta.filename) {
  await multiply(...(process.argv.slice(2) as [string, string, string]));
  process.exit();
}
