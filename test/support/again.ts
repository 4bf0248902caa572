import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startFerret } from "./ferretdb.ts";
import { startMongo, type TestMongo } from "./mongo.ts";
import { watchMongo } from "./mongo-watch.ts";
import type { FileResult } from "./reporter.ts";
import { startAllShared } from "./shared.ts";
import type { SuiteResult } from "./suite.ts";
import { CLUSTER, FERRETDB, type World } from "./world.ts";

/** HTTP test files that also run on several nodes. */
export interface Again extends World {
  files: string[];
  /** Starts the MongoDB of the nodes. */
  start(): Promise<TestMongo | { skipped: string }>;
  /** Whether its commands are watched for what MongoDB refuses. */
  isWatched: boolean;
}

/**
 * @param all the test files
 * @param words what `npm test` was given, without names of suites: worlds, parts of paths; none for all
 * @param isWhole whether it is `npm run test:all`
 */
export function planAgain(all: string[], words: string[], isWhole: boolean): Again[] {
  const repeated = without(all, CLUSTER);
  const onFerret = without(repeated, FERRETDB);
  const short = (world: World, able: string[]) => world.short.map((name) => fileOf(name, able));
  const isNamed = (file: string) => words.some((word) => file.includes(word));
  const onCluster = words.length > 0 ? repeated.filter(isNamed) : short(CLUSTER, repeated);
  const plans: Again[] = [
    {
      ...CLUSTER,
      files: isWhole || words.includes(CLUSTER.name) ? repeated : onCluster,
      start: startMongo,
      isWatched: true,
    },
    {
      ...FERRETDB,
      files: words.includes(FERRETDB.name) ? onFerret : isWhole ? short(FERRETDB, onFerret) : [],
      start: startFerret,
      isWatched: false,
    },
  ];
  return plans.filter(({ files }) => files.length > 0);
}

/** Returns the HTTP test files that a world can show. @throws Error if it names one that does not exist */
function without(files: string[], { alone }: World): string[] {
  const others = new Set(
    Object.values(alone)
      .flat()
      .map((name) => fileOf(name, files)),
  );
  return files.filter((file) => isShown(file) && !others.has(file)).sort();
}

const ROOT = join(import.meta.dirname, "../..");
const HTTP = "test/http/";

function isShown(file: string): boolean {
  if (file.startsWith(HTTP)) return true;
  const isOfExtension = /^extensions\/[^/]+\/test\/http\//.test(file);
  return isOfExtension && !/@alone\b/.test(readFileSync(join(ROOT, file), "utf8"));
}

function fileOf(name: string, files: string[]): string {
  const file = `${HTTP}${name}.test.ts`;
  if (!files.includes(file)) throw new Error(`test/support/world.ts names ${file}, which does not run there`);
  return file;
}

type Run = (suite: World & { files: string[] }, env: Record<string, string>) => Promise<SuiteResult>;

/** Runs them in their world; skips them if something that it needs is missing. */
export async function runAgain(
  again: Again,
  run: Run,
  missing: ReadonlyMap<string, unknown>,
): Promise<SuiteResult> {
  const lacking = again.needs.find((need) => missing.has(need));
  const mongo = lacking ? { skipped: lacking } : await again.start();
  if ("skipped" in mongo) return { files: again.files.map((file) => skipped(file, again)), ...NOTHING };
  // A given MONGO_URL may name several servers: do not proxy it.
  const watch = !again.isWatched || mongo.kind === "MONGO_URL" ? null : await watchMongo(mongo.url);
  try {
    const MONGO_URL = watch?.url ?? mongo.url;
    const sources = again.files.map((file) => readFileSync(join(ROOT, file), "utf8"));
    // Only here: it starts what a run without a cluster need not load.
    const { startClustered } = await import("./clustered.ts");
    const shared = await startAllShared(sources, (options) => startClustered(options, MONGO_URL));
    const env = { SENSORIUM_TEST_WORLD: "cluster", MONGO_URL, ...shared.env };
    const result = await run(again, env).finally(shared.stop);
    return {
      ...result,
      files: result.files.map((each) => ({ ...each, file: labelOf(each.file, again) })),
      problems: [...result.problems, ...(watch?.faults() ?? [])],
    };
  } finally {
    await watch?.stop();
    await mongo.stop();
  }
}

const NOTHING = { problems: [], seconds: 0 };

/** How the file is named in the report: the same one also ran alone. */
export const labelOf = (file: string, { on }: World) => `${file} (on ${on})`;

const skipped = (file: string, again: Again): FileResult => ({
  ...{ file: labelOf(file, again), passed: [], failed: [], skipped: ["all of it"], seconds: 0, cpu: 0 },
  slow: [],
});
