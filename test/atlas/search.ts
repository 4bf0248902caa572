import { join } from "node:path";
import type { Document } from "mongodb";
import { EntryModel } from "../../services/remember/search/search.model.ts";
import { AtlasIndexes } from "../../storage/search/atlas/atlas-index.ts";
import { packVector } from "../../storage/search/atlas/candidates.ts";
import { buildConditions } from "../../storage/search/atlas/conditions.ts";
import { textPipeline, vectorPipeline, wordsOf } from "../../storage/search/atlas/pipelines.ts";
import { query, TENANT, vector } from "../suites/search/samples.ts";
import { startChild } from "../support/child.ts";
import { settle } from "../support/settle.ts";
import { type Check, explained, NotSupported, stagesOf } from "./checks.ts";

const ROOT = join(import.meta.dirname, "../..");
const CONTEXT = { now: 0, include_superseded: false, neighbours: 1 };
const LIMIT = 10;
type Subject = Parameters<Check>[0];

/** The entries, with both indexes for vectors of samples.ts. */
async function entriesOf({ store }: Subject) {
  const entries = store.collection(EntryModel).system;
  await store.ready();
  await entries
    .listSearchIndexes()
    .toArray()
    .catch((error: Error) => {
      throw new NotSupported(`no Atlas Search: ${error.message}`);
    });
  const indexes = new AtlasIndexes(entries);
  await indexes.text();
  const isReady = () => indexes.hasVectors(vector().length);
  await settle(isReady, { within: 120_000, every: 500, what: "the index of vectors" });
  return entries;
}

/** All cases of the local index's suite. */
export const checkSearchIndex: Check = async (subject) => {
  await entriesOf(subject);
  const jest = ["run", "--silent", "jest", "--", "test/search.atlas.test.ts"];
  const child = await startChild("npm", jest, { cwd: ROOT, env: process.env });
  const { code } = await child.exited;
  const [, counts = "no test ran"] = /^Tests:\s+(.+)$/m.exec(child.output()) ?? [];
  if (code !== 0) throw new Error(`${counts}: npm run jest -- test/search.atlas.test.ts`);
  return counts;
};

export const checkSearchPlan: Check = (subject) => checkLeg(subject, "$search", textLeg());

export const checkVectorPlan: Check = (subject) => checkLeg(subject, "$vectorSearch", vectorLeg());

const textLeg = () => textPipeline(buildConditions(query("word")), wordsOf(["word"]), LIMIT, CONTEXT);

function vectorLeg(): Document[] {
  const own = { vector: packVector(vector(1)), dimensions: vector().length, limit: LIMIT };
  return vectorPipeline(buildConditions(query("")), own, CONTEXT);
}

async function checkLeg(subject: Subject, name: string, pipeline: Document[]): Promise<string> {
  const entries = await entriesOf(subject);
  const plan = await explained(() => entries.aggregate(pipeline).explain("queryPlanner"));
  const [first] = planStages(plan);
  const text = JSON.stringify(first ?? null);
  if (!text.includes(name) && !text.includes("$_internalSearch"))
    throw new Error(`the first stage is ${Object.keys(first ?? {}).join(", ")}`);
  if (!text.includes(TENANT))
    throw new Error(`the first stage does not name the tenant: ${text.slice(0, 300)}`);
  return Object.keys(first as Document).join(", ");
}

/** The `$lookup` of a leg, from rows instead of from `$search`. */
export const checkNeighbours: Check = async (subject) => {
  const entries = subject.store.collection(EntryModel).system;
  await subject.store.ready();
  await entries.insertMany(
    ["1", "2"].map((position) => ({
      ...{ _id: `plan ${position}`, tenant_id: TENANT, thread: "t", position },
      ...{ expires_at: 1, superseded: false },
    })) as never[],
  );
  const lookups = textLeg().filter((stage) => "$lookup" in stage);
  const pipeline = [{ $match: { tenant_id: TENANT } }, ...lookups];
  const plan = await explained(() => entries.aggregate(pipeline).explain("executionStats"));
  const read = planStages(plan).filter((stage) => "$lookup" in stage);
  if (read.length === 0) throw new NotSupported("plans of another form than MongoDB's");
  const scans = read.map(({ collectionScans }) => Number(collectionScans));
  if (scans.some((scan) => scan !== 0) || stagesOf(plan).includes("COLLSCAN"))
    throw new Error(`collection scans: ${scans.join(", ")}`);
  const used = read.flatMap(({ indexesUsed }) => indexesUsed as string[]);
  return [...new Set(used)].join(", ");
};

/** Those of the first shard, where there are several. */
function planStages(plan: Document): Document[] {
  const [shard] = Object.values((plan.shards ?? {}) as Record<string, Document>);
  return (shard ?? plan).stages ?? [];
}
