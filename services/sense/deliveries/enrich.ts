import type { ServiceBroker } from "moleculer";
import type { EnrichmentDepth } from "../interests/interests.contract.ts";

/** A receiver's memories in a delivery (api: Interests). */
interface Enrichment {
  memories: { id: string; title: string; score: number; content?: string }[];
  /** Memories are missing, or only part of the search worked. */
  degraded?: true;
  degraded_reasons?: string[];
}

/** A delivery to enrich. */
interface Wanting {
  id: string;
  depth: EnrichmentDepth;
  /** The event as JSON. */
  envelope: string;
}

interface Receiver {
  tenant_id: string;
  agent_id: string;
  /** False if its token does not allow reading memories. */
  reads_memories?: boolean;
}

/** Limit of a delivery's wait for memories. */
const WITHIN_MS = 200;
/** Concurrent searches per batch: leave capacity to others. */
const AT_ONCE = 8;
const LIMITS = { shallow: 3, deep: 10 } as const;

/**
 * Returns enriched events by delivery. It always finishes within 200 ms and marks results missing by then in the event.
 */
export async function enrich(broker: ServiceBroker, receiver: Receiver, wanting: Wanting[]) {
  const found = new Map<string, string>();
  if (wanting.length === 0) return found;
  const events = wanting.map(({ envelope }) => JSON.parse(envelope) as Event);
  const questions = wanting.map(({ depth }, i) => JSON.stringify([depth, queryOf(events[i] as Event)]));
  const answers = await askAll(broker, receiver, [...new Set(questions)]);
  for (const [i, { id, envelope }] of wanting.entries()) {
    const enrichment = answers.get(questions[i] as string) ?? missing(`no answer within ${WITHIN_MS} ms`);
    found.set(id, withEnrichment(envelope, events[i] as Event, enrichment));
  }
  return found;
}

function withEnrichment(envelope: string, event: Event, enrichment: Enrichment): string {
  // Replace one that the publisher wrote: it would come first.
  if ("enrichment" in event) return JSON.stringify({ ...event, enrichment });
  return `${envelope.slice(0, -1)},"enrichment":${JSON.stringify(enrichment)}}`;
}

interface Event {
  type: string;
  subject?: string;
}

/** Builds the query: the words of the event's subject and type, without the type's leading domain. */
export function queryOf({ type, subject = "" }: Event): string {
  const labels = type.split(".");
  const own = labels.length > 2 ? labels.slice(1) : labels;
  return `${subject} ${own.join(" ")}`.replace(/[\s_./:;,#-]+/g, " ").trim();
}

/** Returns the answers that arrive in time, by question. */
async function askAll(broker: ServiceBroker, receiver: Receiver, questions: string[]) {
  const answers = new Map<string, Enrichment>();
  if (receiver.reads_memories === false) {
    for (const question of questions) answers.set(question, missing("the token lacks the scope memory:read"));
    return answers;
  }
  const waiting = [...questions];
  let late = false;
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined && !late; next = waiting.shift()) {
      const answer = await ask(broker, receiver, next);
      if (!late) answers.set(next, answer);
    }
  };
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, WITHIN_MS);
  });
  await Promise.race([Promise.all(Array.from({ length: AT_ONCE }, work)), deadline]);
  clearTimeout(timer);
  late = true;
  return answers;
}

async function ask(broker: ServiceBroker, receiver: Receiver, question: string): Promise<Enrichment> {
  const [depth, query] = JSON.parse(question) as ["shallow" | "deep", string];
  const { tenant_id, agent_id } = receiver;
  const asked = { tenant_id, agent_id, query, limit: LIMITS[depth], content: depth === "deep" };
  try {
    const { memories, degraded } = await broker.call<
      { memories: Enrichment["memories"]; degraded: string[] },
      unknown
    >("memories.recall", asked, { timeout: WITHIN_MS, retries: 0 });
    return { memories, ...(degraded.length > 0 && { degraded: true, degraded_reasons: degraded }) };
  } catch (err) {
    broker.logger.debug("deliveries: a search for memories failed", err);
    return missing("search did not answer");
  }
}

function missing(reason: string): Enrichment {
  return { memories: [], degraded: true, degraded_reasons: [reason] };
}
