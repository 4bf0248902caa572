/**
 * A run with two agents and a person: five steps with diamond-shaped dependencies, a fact that one agent remembers and
 * the other finds, a handoff from one client to the next, two versions of a text, and a retrospective.
 *
 *   npm start                                # in one terminal
 *   npm run example:run-with-two-agents      # in another; reads ./data/credentials.json
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { byLogin, type Client, createClient } from "../../../packages/client/index.ts";
import { RELEASE_NOTE } from "./template.ts";

const credentialsFile = process.argv[2] ?? join(process.env.DATA_DIR ?? "./data", "credentials.json");
const { base_url: url, admin, tenant_slug } = JSON.parse(await readFile(credentialsFile, "utf8"));

const person = createClient({ url, authorize: byLogin({ ...admin, tenant_slug }) });
const writer = await newAgent("Writer");
const researcher = await newAgent("Researcher");

const template = await person.templates.author(RELEASE_NOTE);
const run = await person.runs.create({ goal: "A release note for 4.2", template_id: template.id });
const run_id = run.id;
console.log(
  `${run.goal}: ${run.steps.length} steps, by version ${template.version_num} of "${template.slug}".\n`,
);

await step(writer, "Writer", "outline", "Three parts: what is new, for whom, how to get it.");

// The facts and the draft can be worked on in parallel; a later worker finds what the other has remembered.
await researcher.runs.startStep({ run_id, step_key: "facts" });
await writer.runs.startStep({ run_id, step_key: "draft" });
const fact = await researcher.memories.create({
  title: "Import speed of 4.2",
  content: "Version 4.2 imports spreadsheets nine times as fast as 4.1, measured on 200 files.",
  type: "semantic",
  scope: "institutional",
});
console.log(`Researcher remembers: ${fact.title}.`);
await complete(researcher, "Researcher", "facts", "Measured, and remembered for all.");

const { results } = await writer.memories.search({ query: "How fast does 4.2 import spreadsheets?" });
const found = results.find(({ memory }) => memory.id === fact.id);
if (!found) throw new Error("The writer does not find what the researcher remembers.");
console.log(`Writer finds: ${found.memory.title}.`);
const draft = await writer.outputs.save({
  body: "# What is new in 4.2\n\nSpreadsheets are imported much faster. You get it by updating.\n",
  process_run_id: run_id,
  scope: "institutional",
});

// The writer's client ends here; another client of the same agent continues from the handoff.
const handoff = await writer.handoffs.save({
  name: `release-note-${run_id}`,
  summary: "The draft is written and saved.",
  payload: { completed: ["Draft"], remaining: ["Complete the step"], next_action: `Look at ${draft.slug}` },
  citations: [{ memory_id: fact.id }],
});
const brief = await writer.handoffs.resume({ query: handoff.name });
console.log(`Writer goes on in another client:\n${indented(String(brief))}\n`);

// The draft completes when the researcher accepts it and starts to edit.
const note = `Saved as ${draft.slug}.`;
const offer = await writer.runs.offerHandoff({ run_id, step_key: "draft", handoff_id: handoff.id, note });
const taken = await researcher.runs.acceptOffer({ run_id, offer_id: offer.id });
console.log(
  `Writer offers the draft: "${offer.note}" Researcher takes it, which completes ${taken.completed_step.step_key}.`,
);
const edited = await researcher.outputs.save({
  output_id: draft.id,
  body: "# What is new in 4.2\n\nSpreadsheets are imported nine times as fast. You get it by updating.\n",
  change_note: "The figure that was measured.",
});
console.log(`Researcher saves version ${edited.current_version_num} of "${edited.title}".`);
for (const criterion_key of ["true", "short"]) {
  await complete(researcher, "Researcher", "edit", `It is ${criterion_key}.`, criterion_key);
}

const { ready_steps } = await person.runs.position({ run_id });
console.log(`\nNow it is for a person: ${ready_steps.map(({ title }) => title).join(", ")}.`);
await step(person, "Person", "approve", "Read and liked.");
await person.runs.close({ run_id, outcome: "achieved", note: "Published." });

const { items } = await person.runs.retrospective({ run_id });
console.log("\nLooking back:");
for (const { title, status, what_makes_this_done } of items) {
  console.log(`  ${String(title).padEnd(18)} ${status.padEnd(10)} ${what_makes_this_done ?? ""}`);
}
const { versions } = await person.outputs.listVersions({ output_id: draft.id });
console.log(`  ${versions.length} versions of the note, and the run is closed as achieved.`);

// A second run of this example creates its own agents.
for (const agent_id of [writer.id, researcher.id]) {
  await person.agents.setStatus({ agent_id, status: "inactive" });
}

/** Creates an agent that the person owns, and its client. */
async function newAgent(name: string): Promise<Client & { id: string }> {
  const { id } = await person.agents.create({ name, delivery_mode: "poll" });
  const { key } = await person.keys.create({ agent_id: id, scopes: ["memory:read", "memory:write"] });
  return { ...createClient({ url, apiKey: key }), id };
}

async function step(who: Client, name: string, step_key: string, done: string): Promise<void> {
  await who.runs.startStep({ run_id, step_key });
  await complete(who, name, step_key, done);
}

async function complete(
  who: Client,
  name: string,
  step_key: string,
  what_makes_this_done: string,
  criterion_key?: string,
): Promise<void> {
  const criterion = criterion_key === undefined ? {} : { criterion_key };
  const told = await who.runs.completeStep({ run_id, step_key, what_makes_this_done, ...criterion });
  const ready = told.newly_ready_steps.map((each) => each.step_key);
  const next = told.run_completed
    ? "the run is completed"
    : `ready now: ${ready.join(", ") || "nothing more"}`;
  console.log(`${name} completes ${step_key}${criterion_key ? ` (${criterion_key})` : ""}; ${next}.`);
}

function indented(text: string): string {
  return text.trimEnd().replace(/^(?=.)/gm, "  | ");
}
