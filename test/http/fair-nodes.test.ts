/** @needs mongodb, nats: what one tenant has published keeps no other waiting, on two workers. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { cloudEvent, firstAgent, newAgent, type TestAgent } from "../support/agents.ts";
import type { Api } from "../support/http.ts";
import { startMongo } from "../support/mongo.ts";
import { type Nodes, startNodes } from "../support/nodes.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, OPERATOR_TOKEN, ok, type World } from "../support/tenancy.ts";

const mongo = await startMongo();

interface Summary {
  accepted_at: string;
  fanned_out_at: string;
  matched_count: number;
}

const FLOOD = 2_000;
const RECEIVERS = 20;
const FEW = 100;
const BATCH = 100;
const BATCH_TYPE = { "content-type": "application/cloudevents-batch+json" };

("url" in mongo ? describe : describe.skip)("two tenants on a gateway and two workers", () => {
  let nodes: Nodes;
  let flooding: TestAgent;
  let other: World;

  beforeAll(async () => {
    const settings = { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none", OPERATOR_TOKEN };
    nodes = await startNodes("url" in mongo ? mongo.url : "", 2, settings);
    flooding = await firstAgent(nodes.gateway);
    other = await makeWorld(nodes.gateway, "other");
    for (let n = 0; n < RECEIVERS; n++) {
      const agent = await newAgent(nodes.gateway, flooding);
      ok(await agent.post(`/agents/${agent.id}/interests`, { event_type: "com.flood" }));
    }
    ok(await other.agent.post(`/agents/${other.agentId}/interests`, { event_type: "com.few" }));
  });
  afterAll(async () => {
    await nodes?.stop();
    if ("url" in mongo) await mongo.stop();
  });

  async function publish(api: Api, type: string, count: number): Promise<string[]> {
    const batches = Array.from({ length: count / BATCH }, (_, at) =>
      Array.from({ length: BATCH }, (_, n) => cloudEvent(`${type}-${at}-${n}`, { type })),
    );
    const answers = await Promise.all(batches.map((events) => api.post("/events", events, BATCH_TYPE)));
    return answers.flatMap((answer) => ok(answer).map(({ event_id }: { event_id: string }) => event_id));
  }

  /** The events of a type, when all of them have been brought to their receivers. */
  function fannedOut(api: Api, type: string, count: number): Promise<Summary[]> {
    const all = async () => {
      const found: Summary[] = [];
      for (let cursor = ""; ; ) {
        const page = ok(await api.get(`/events?type=${type}&limit=200${cursor}`));
        found.push(...page.events);
        if (page.next_cursor === null) break;
        cursor = `&cursor=${page.next_cursor}`;
      }
      return found.length === count && found.every(({ fanned_out_at }) => fanned_out_at !== null) && found;
    };
    return settle(all, { within: 120_000, every: 200, what: `all of ${type} to be fanned out` });
  }

  test("a few events of one are brought to their receivers before the flood of the other that came earlier", async () => {
    const flood = await publish(flooding, "com.flood", FLOOD);
    const few = await publish(other.agent, "com.few", FEW);
    const own = await fannedOut(other.agent, "com.few", few.length);
    const theirs = await fannedOut(flooding, "com.flood", flood.length);
    const accepted = Math.max(...own.map(({ accepted_at }) => Date.parse(accepted_at)));
    const last = Math.max(...own.map(({ fanned_out_at }) => Date.parse(fanned_out_at)));
    const after = (time: number) =>
      theirs.filter(({ fanned_out_at }) => Date.parse(fanned_out_at) > time).length;
    expect(own.every(({ matched_count }) => matched_count === 1)).toBe(true);
    expect(theirs.every(({ matched_count }) => matched_count === RECEIVERS)).toBe(true);
    // However far the flood was when the few were accepted, and whatever of it was under way, they pass the rest.
    expect(after(accepted)).toBeGreaterThan(FEW);
    expect(after(last)).toBeGreaterThan(FEW);
  });
});
