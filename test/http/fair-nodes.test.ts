/** @needs mongodb, nats: what one tenant has published keeps no other waiting, on two workers. */
import { expect, test } from "@jest/globals";
import { cloudEvent, newAgent } from "../support/agents.ts";
import type { Api } from "../support/http.ts";
import { onNodes } from "../support/on-nodes.ts";
import { pagesOf } from "../support/pages.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, OPERATOR_TOKEN, ok } from "../support/tenancy.ts";

type Summary = { accepted_at: string; matched_at: string; matched_count: number };

const FLOOD = 2_000;
const RECEIVERS = 20;
const FEW = 100;
const BATCH = 100;
const BATCH_TYPE = { "content-type": "application/cloudevents-batch+json" };

await onNodes("the events of two tenants", 2, { EMBEDDER: "none", OPERATOR_TOKEN }, ({ nodes, admin }) => {
  async function publishMany(api: Api, type: string, count: number): Promise<string[]> {
    const batches = Array.from({ length: count / BATCH }, (_, at) =>
      Array.from({ length: BATCH }, (_, n) => cloudEvent(`${type}-${at}-${n}`, { type })),
    );
    const answers = await Promise.all(batches.map((events) => api.post("/events", events, BATCH_TYPE)));
    return answers.flatMap((answer) => ok(answer).map(({ event_id }: { event_id: string }) => event_id));
  }

  /** The events of a type, when all of them have been brought to their receivers. */
  function fannedOut(api: Api, type: string, count: number): Promise<Summary[]> {
    const all = async () => {
      const found: Summary[] = await pagesOf(api, `/events?type=${type}&limit=200`, "events");
      return found.length === count && found.every(({ matched_at }) => matched_at !== null) && found;
    };
    return settle(all, { within: 120_000, every: 200, what: `all of ${type} to be fanned out` });
  }

  test("a few events of one are brought to their receivers before the flood of the other that came earlier", async () => {
    const calm = await makeWorld(nodes.gateway, "calm");
    for (let n = 0; n < RECEIVERS; n++) {
      const agent = await newAgent(nodes.gateway, admin);
      ok(await agent.post(`/agents/${agent.id}/interests`, { event_type: "com.flood" }));
    }
    ok(await calm.agent.post(`/agents/${calm.agentId}/interests`, { event_type: "com.few" }));
    const flood = await publishMany(admin, "com.flood", FLOOD);
    const few = await publishMany(calm.agent, "com.few", FEW);
    const own = await fannedOut(calm.agent, "com.few", few.length);
    const theirs = await fannedOut(admin, "com.flood", flood.length);
    const accepted = Math.max(...own.map(({ accepted_at }) => Date.parse(accepted_at)));
    const last = Math.max(...own.map(({ matched_at }) => Date.parse(matched_at)));
    const after = (time: number) => theirs.filter(({ matched_at }) => Date.parse(matched_at) > time).length;
    expect(own.every(({ matched_count }) => matched_count === 1)).toBe(true);
    expect(theirs.every(({ matched_count }) => matched_count === RECEIVERS)).toBe(true);
    // However far the flood was when the few were accepted, and whatever of it was under way, they pass the rest.
    expect(after(accepted)).toBeGreaterThan(FEW);
    expect(after(last)).toBeGreaterThan(FEW);
  });
});
