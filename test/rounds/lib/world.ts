import { type Api, agentToken, api } from "../../support/http.ts";
import { newReceiver, type Receiver } from "../../support/receiver.ts";
import type { TestServer } from "../../support/server.ts";
import { ok, signIn } from "../../support/tenancy.ts";
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
  /** Each publisher waits so long after a request, where more events would only wait for a slow record. */
  publishEveryMs: number;
  /** Chooses a fault. @returns what it is, what causes and repairs it, and whether it forgets leases in memory */
  strike(random: Random): { what: string; forgets?: boolean; cause(): Promise<unknown> };
  /** A message broker with a queue that the system is to consume; resolves when it has confirmed a message of this name. */
  broker?: { url: string; queue: string; send(name: string): Promise<unknown> };
  stop(): Promise<void>;
}

export const SETTINGS = {
  RATE_LIMIT_PER_MINUTE: "0",
  LOG_LEVEL: "warn",
  MAX_SCHEDULES_PER_AGENT: "100000",
  MAX_SCHEDULES_PER_TENANT: "100000",
  CONNECTOR_ALLOW_PRIVATE: "true",
};

export interface World {
  subject: Subject;
  server: TestServer;
  admin: Api;
  /** An admin who is a person. */
  person: Api;
  ledger: Ledger;
  actors: Actor[];
  recoveries: { fault: string; seconds: number }[];
}

const MAPPING = { entity: "thing", action: "sent", id: "/name" };

interface Plan {
  name: string;
  via: "poll" | "stream";
  lanes: number;
  interests: object[];
  /** Is a member of the channel, whose feed is every `com.example.invoice`. */
  member?: boolean;
  wants: (event: SentEvent) => boolean;
  inOrder?: boolean;
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
  {
    ...{ name: "ordering", via: "poll", lanes: 2, inOrder: true, wants: isKind("notice") },
    interests: [{ event_type: "com.example.notice", ordering_key: "data.key" }],
  },
];
/** Comes when everything has been published: history is replayed to it. */
const NEWCOMER: Plan = {
  ...{ name: "late", via: "poll", lanes: 1, wants: isKind("order") },
  interests: [{ event_type: "com.example.order" }],
};

/** Creates the receivers on an empty store; nothing is sent yet. */
export async function newWorld(subject: Subject): Promise<World> {
  const { server } = subject;
  try {
    const admin = api(server, await agentToken(server, server.credentials.agent.api_key));
    const { admin: user, tenant_slug } = server.credentials;
    const person = api(server, await signIn(server, user, tenant_slug));
    const channel = ok(await admin.post("/channels", { name: CHANNEL }));
    ok(await admin.post(`/channels/${channel.id}/feeds`, { event_type_glob: "com.example.invoice" }));
    const { url, queue } = subject.broker ?? {};
    const connector = { name: "Rounds", kind: "amqp091", source: "rounds", mapping: MAPPING, url, queue };
    if (url) ok(await admin.post("/ingest/connectors", connector));
    const world = { subject, server, admin, person, ledger: new Ledger(), actors: [], recoveries: [] };
    for (const plan of PLANS) {
      const { agent } = await addActor(world, plan);
      if (plan.member) ok(await admin.post(`/channels/${channel.id}/members`, { agent_id: agent.id }));
    }
    return world;
  } catch (error) {
    await subject.stop();
    throw error;
  }
}

async function addActor({ server, admin, ledger, actors }: World, plan: Plan): Promise<Actor> {
  const { name, via, lanes, interests, wants, inOrder } = plan;
  const settings = { visibility_timeout_seconds: VISIBILITY_SECONDS, retry_budget: 100 };
  const agent = await newReceiver(server, admin, name, { interests, agent: settings });
  const record = new ReceiverRecord(name, via, wants, inOrder);
  ledger.receivers.push(record);
  const actor = { agent, record, lanes };
  actors.push(actor);
  return actor;
}

/** One more actor, to which history is replayed. Resolves, when that has begun, to what tells whether it is done. */
export async function addNewcomer(world: World): Promise<() => Promise<boolean>> {
  const { id } = (await addActor(world, NEWCOMER)).agent;
  const range = { from: "2020-01-01T00:00:00Z", per_minute: 30_000 };
  const replay = ok(await world.admin.post(`/agents/${id}/replays`, range));
  const path = `/agents/${id}/replays/${replay.id}`;
  return async () => (await world.admin.get(path)).body?.state === "completed";
}
