import { type Api, agentToken, api } from "../../support/http.ts";
import { created, newReceiver, type Receiver } from "../../support/receiver.ts";
import type { TestServer } from "../../support/server.ts";
import { Ledger, ReceiverRecord, type SentEvent } from "./ledger.ts";
import type { Random } from "./random.ts";

export const VISIBILITY_SECONDS = 1;
/** The channel that events go through; others are made on the way. */
export const CHANNEL = "invoices";
export const KINDS = ["order", "invoice", "notice"] as const;

/** A receiving agent, what it is known to have got, and how many ask for it at a time. */
export interface Actor {
  agent: Receiver;
  record: ReceiverRecord;
  lanes: number;
}

/** The system under test, and what may happen to it. */
export interface Subject {
  /** Where clients connect, at the same address after every fault. */
  server: TestServer;
  /** Whether requests may be refused for a while after a fault is repaired, while nodes find each other again. */
  aftermath: boolean;
  /** Events of a batch at most: a cluster on one machine is slow to read all of them back. */
  largestBatch: number;
  /** Chooses a fault. @returns what it is, what causes and repairs it, and whether it forgets leases in memory */
  strike(random: Random): { what: string; forgets?: boolean; cause(): Promise<unknown> };
  stop(): Promise<void>;
}

export const SETTINGS = { RATE_LIMIT_PER_MINUTE: "0", LOG_LEVEL: "warn" };

export interface World {
  subject: Subject;
  server: TestServer;
  admin: Api;
  ledger: Ledger;
  actors: Actor[];
}

interface Plan {
  name: string;
  via: "poll" | "stream";
  lanes: number;
  interests: object[];
  /** Is a member of the channel, whose feed is every `com.example.invoice`. */
  member?: boolean;
  wants: (event: SentEvent) => boolean;
}

const all = { event_type: "com.example.*" };
const isKind = (kind: string) => (event: SentEvent) => event.type === `com.example.${kind}`;

const PLANS: Plan[] = [
  { name: "everything", via: "poll", lanes: 4, interests: [all], wants: () => true },
  { name: "streaming", via: "stream", lanes: 1, interests: [all], wants: () => true },
  {
    ...{ name: "filtering", via: "poll", lanes: 1 },
    interests: [{ event_type: "com.example.order", filter_expression: "int(data.n) % 2 == 0", priority: 9 }],
    wants: (event) => isKind("order")(event) && event.data.n % 2 === 0,
  },
  {
    // Matched three times over, and still to be given each event once.
    name: "overlapping",
    via: "poll",
    lanes: 1,
    member: true,
    interests: [{ event_type: "com.example.inv*" }, { event_type: "*.invoice", priority: 3 }],
    wants: isKind("invoice"),
  },
];

/** Creates the receivers on an empty store; nothing is sent yet. */
export async function newWorld(subject: Subject): Promise<World> {
  const { server } = subject;
  try {
    const admin = api(server, await agentToken(server, server.credentials.agent.api_key));
    const channel = (await created(admin.post("/channels", { name: CHANNEL }))).body;
    await created(admin.post(`/channels/${channel.id}/feeds`, { event_type_glob: "com.example.invoice" }));
    const ledger = new Ledger();
    const actors: Actor[] = [];
    for (const { name, via, lanes, interests, member, wants } of PLANS) {
      const settings = { visibility_timeout_seconds: VISIBILITY_SECONDS, retry_budget: 100 };
      const agent = await newReceiver(server, admin, name, { interests, agent: settings });
      if (member) await created(admin.post(`/channels/${channel.id}/members`, { agent_id: agent.id }));
      const record = new ReceiverRecord(name, via, wants);
      ledger.receivers.push(record);
      actors.push({ agent, record, lanes });
    }
    return { subject, server, admin, ledger, actors };
  } catch (error) {
    await subject.stop();
    throw error;
  }
}
