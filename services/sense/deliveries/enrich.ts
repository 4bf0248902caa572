import { setTimeout } from "node:timers/promises";
import type { ServiceBroker } from "moleculer";
import type { OfAgent } from "../../../lib/access/caller.ts";
import type { CloudEvent } from "../../../lib/cloudevents/cloudevents.ts";
import type { EnrichmentDepth } from "../interests/interests.contract.ts";

/** A receiver's memories in a delivery (api: Interests). */
interface Enrichment {
  memories: { id: string; title: string; score: number; content?: string }[];
  /** Memories are missing, or only part of the search worked. */
  degraded?: true;
  degraded_reasons?: string[];
}

interface EnrichRequest {
  id: string;
  depth: EnrichmentDepth;
  /** The event as JSON. */
  envelope: string;
}

interface Receiver extends OfAgent {
  /** False if its token does not allow reading memories. */
  reads_memories?: boolean;
}

/** Limit of a delivery's wait for memories. */
const TIMEOUT_MS = 200;
/** Concurrent searches per batch: leave capacity to others. */
const MAX_CONCURRENT = 8;
const LIMITS = { shallow: 3, deep: 10 } as const;

/** Returns enriched events by delivery, within 200 ms: what is missing by then is marked in the event. */
export async function enrich(broker: ServiceBroker, receiver: Receiver, requests: EnrichRequest[]) {
  const enriched = new Map<string, string>();
  const events = requests.map(({ envelope }) => JSON.parse(envelope) as Event);
  const questions = requests.map(({ depth }, i) => JSON.stringify([depth, toQuery(events[i] as Event)]));
  const answers = await searchAll(broker, receiver, [...new Set(questions)]);
  for (const [i, { id, envelope }] of requests.entries()) {
    const enrichment = answers.get(questions[i] as string) ?? missing(`no answer within ${TIMEOUT_MS} ms`);
    enriched.set(id, withEnrichment(envelope, events[i] as Event, enrichment));
  }
  return enriched;
}

function withEnrichment(envelope: string, event: Event, enrichment: Enrichment): string {
  // Replace one that the publisher wrote: it would come first.
  if ("enrichment" in event) return JSON.stringify({ ...event, enrichment });
  return `${envelope.slice(0, -1)},"enrichment":${JSON.stringify(enrichment)}}`;
}

type Event = Pick<CloudEvent, "type" | "subject">;

/** Builds the query: the words of the event's subject and type, without the type's leading domain. */
export function toQuery({ type, subject = "" }: Event): string {
  const labels = type.split(".");
  const own = labels.length > 2 ? labels.slice(1) : labels;
  return `${subject} ${own.join(" ")}`.replace(/[\s_./:;,#-]+/g, " ").trim();
}

async function searchAll(broker: ServiceBroker, receiver: Receiver, questions: string[]) {
  const answers = new Map<string, Enrichment>();
  if (receiver.reads_memories === false) {
    for (const question of questions)
      answers.set(question, missing("the agent's token lacks the scope memory:read"));
    return answers;
  }
  const waiting = [...questions];
  let timedOut = false;
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined && !timedOut; next = waiting.shift()) {
      const answer = await search(broker, receiver, next);
      if (!timedOut) answers.set(next, answer);
    }
  };
  const searches = Promise.all(Array.from({ length: MAX_CONCURRENT }, work));
  await Promise.race([searches, setTimeout(TIMEOUT_MS, undefined, { ref: false })]);
  timedOut = true;
  return answers;
}

async function search(broker: ServiceBroker, receiver: Receiver, question: string): Promise<Enrichment> {
  const [depth, query] = JSON.parse(question) as ["shallow" | "deep", string];
  const { tenant_id, agent_id } = receiver;
  const params = { tenant_id, agent_id, query, limit: LIMITS[depth], content: depth === "deep" };
  try {
    const { memories, degraded } = await broker.call<
      { memories: Enrichment["memories"]; degraded: string[] },
      unknown
    >("memories.recall", params, { timeout: TIMEOUT_MS, retries: 0 });
    return { memories, ...(degraded.length > 0 && { degraded: true, degraded_reasons: degraded }) };
  } catch (err) {
    broker.logger.debug("deliveries: the search for memories failed", err);
    return missing("the search failed");
  }
}

function missing(reason: string): Enrichment {
  return { memories: [], degraded: true, degraded_reasons: [reason] };
}
