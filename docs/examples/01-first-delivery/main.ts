/**
 * The first delivery: publishes 19 real GitHub payloads as CloudEvents, receives them as two agents with different
 * interests (one by long-poll, one by SSE), and checks the counts.
 *
 *   npm start                              # in one terminal
 *   npm run example:first-delivery         # in another; reads ./data/credentials.json
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Api } from "./api.ts";
import { githubEvents } from "./events.ts";
import { receiveByPoll, receiveByStream } from "./receive.ts";
import { printCounts } from "./table.ts";

const BATCH = 10;

const credentialsFile = process.argv[2] ?? join(process.env.DATA_DIR ?? "./data", "credentials.json");
const { base_url, agent } = JSON.parse(await readFile(credentialsFile, "utf8"));

const admin = await Api.login(base_url, agent.api_key);
const reviewer = await newAgent("Reviewer", "poll", "com.github.pull_request*");
const auditor = await newAgent("Auditor", "sse", "com.github.*");

// Ids are unique per run, so that the example can be run again.
const run = Date.now().toString(36);
const events = githubEvents(run);
const published = { accepted: 0, duplicate: 0 };
for (let at = 0; at < events.length; at += BATCH) {
  for (const { status } of await admin.publish(events.slice(at, at + BATCH))) published[status] += 1;
}
// The same batch again creates no duplicates: the id of an event is its deduplication key.
for (const { status } of await admin.publish(events.slice(0, BATCH))) published[status] += 1;
console.log(`Published ${published.accepted} events; ${published.duplicate} sent twice were recognised.\n`);

const forReviewer = events.filter(({ type }) => type.startsWith("com.github.pull_request"));
const [reviewed, audited] = await Promise.all([
  receiveByPoll(reviewer.api, forReviewer.length),
  receiveByStream(auditor.api, events.length),
]);
printCounts([
  { name: "Reviewer (long-poll)", expected: forReviewer, received: reviewed },
  { name: "Auditor (SSE)", expected: events, received: audited },
]);

// A second run creates its own agents, so deactivate these.
await admin.patch(`/agents/${reviewer.id}/status`, { status: "inactive" });
await admin.patch(`/agents/${auditor.id}/status`, { status: "inactive" });

async function newAgent(name: string, delivery_mode: "poll" | "sse", event_type: string) {
  const { id } = await admin.post<{ id: string }>("/agents", { name, delivery_mode });
  const { key } = await admin.post<{ key: string }>(`/agents/${id}/keys`, { scopes: ["receive"] });
  const api = await Api.login(base_url, key);
  await api.post(`/agents/${id}/interests`, { event_type, priority: 5, enrichment_depth: "none" });
  return { id, api };
}
