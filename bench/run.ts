/** `npm run bench [-- PART …]`: measures, shows progress, and writes docs/benchmarks.md. */

import { backlogPart } from "./backlog.ts";
import { bundlesPart } from "./bundles.ts";
import { clusterPart } from "./cluster.ts";
import { consumePart } from "./consume.ts";
import { costPart } from "./cost.ts";
import { documentsPart } from "./documents.ts";
import { factsPart } from "./facts.ts";
import { fairnessPart } from "./fairness/part.ts";
import { idlePart } from "./idle.ts";
import { interestsPart } from "./interests.ts";
import { latencyPart } from "./latency.ts";
import { type Part, progress, writeSection } from "./lib/report.ts";
import { mcpPart } from "./mcp.ts";
import { orderedPart } from "./ordered.ts";
import { peoplePart } from "./people.ts";
import { pricePart } from "./price.ts";
import { batchPart, publishPart } from "./publish.ts";
import { restingPart } from "./resting.ts";
import { runsPart } from "./runs.ts";
import { searchPart } from "./search.ts";
import { waitingPart } from "./waiting.ts";
import { widePart } from "./wide.ts";

const PARTS: Part[] = [
  publishPart,
  batchPart,
  consumePart,
  pricePart,
  latencyPart,
  widePart,
  interestsPart,
  backlogPart,
  orderedPart,
  fairnessPart,
  runsPart,
  searchPart,
  documentsPart,
  peoplePart,
  factsPart,
  bundlesPart,
  mcpPart,
  clusterPart,
  waitingPart,
  costPart,
  restingPart,
  idlePart,
];

const wanted = process.argv.slice(2);
const unknown = wanted.find((name) => !PARTS.some((part) => part.name === name));
if (unknown) {
  process.stderr.write(
    `There is no part "${unknown}": the parts are ${PARTS.map(({ name }) => name).join(", ")}.\n`,
  );
  process.exit(1);
}
for (const part of PARTS) {
  if (wanted.length && !wanted.includes(part.name)) continue;
  progress(`${part.name}: ${part.title}`);
  const rows = await part.run();
  for (const { what, figure, met } of rows)
    progress(`  ${met === false ? "NOT MET " : ""}${what}: ${figure}`);
  writeSection(part, rows);
}
