import { randomUUID } from "node:crypto";
import { type ClientRequest, request } from "node:http";
import { setTimeout } from "node:timers/promises";
import { endlessPdf } from "../../test/support/pdf.ts";
import { BATCH_TYPE, type Client } from "../lib/http.ts";
import { sampleEvent } from "../lib/world.ts";
import type { Tenant } from "./tenants.ts";
import type { victimsOf } from "./victims.ts";

/** The clients of an attacker. */
export interface Striker {
  url: string;
  /** An agent with the scopes of a shipped key. */
  client: Client;
  person: Client;
  /** The result of `prepare`. */
  target: string | undefined;
}

/** An attacker that uses as much of one resource as an ordinary key allows. */
export interface Attacker {
  resource: string;
  does: string;
  victim: keyof ReturnType<typeof victimsOf>;
  /** Creates what the attack needs; returns the target of the strikes, if any. */
  prepare?(tenant: Tenant): Promise<string | undefined>;
  /** Sends one request of the attack, which may be refused. */
  strike(striker: Striker): Promise<unknown>;
  /** Opens what stays open during the attack; the returned function closes it. */
  hold?(striker: Striker): () => void;
  /** Concurrent requests. */
  width: number;
}

const TINY_VALUES = emptyObjects(300_000);
/** Just under the limits of values and of a batch; the integers are parsed with all their digits. */
const WIDE_EVENT = `{"data":[9007199254740993,${"{},".repeat(485)}{}]}`;
const WIDE_BATCH = Buffer.from(`[${Array(100).fill(WIDE_EVENT).join()}]`);
/** Its fields are in the reverse of the order in which they are signed. */
const WIDE_FORM = Buffer.from(Array.from({ length: 13_000 }, (_, i) => `${99_999 - i}=`).join("&"));
const MEMORY = { type: "semantic", scope: "agent" };
const GLOB = `*${"?".repeat(100)}[aa][aab][ab]*[b]`;

function emptyObjects(count: number): Buffer {
  return Buffer.from(`[${"{},".repeat(count)}{}]`);
}

/** Sends raw text: the attackers' bodies are not JSON that a client would create. */
function sendText(
  url: string,
  token: string | null,
  path: string,
  type: string,
  text: Buffer,
  more: Record<string, string> = {},
): Promise<number> {
  return new Promise((resolve) => {
    const headers: Record<string, string> = { "content-type": type, ...more };
    if (token) headers.authorization = `Bearer ${token}`;
    const req = request(url + path, { method: "POST", headers, agent: false }, (res) => {
      res.resume().on("end", () => resolve(res.statusCode as number));
    });
    req.on("error", () => resolve(0));
    req.end(text);
  });
}

const longText = (paragraphs: number) =>
  Array.from(
    { length: paragraphs },
    (_, i) => `Paragraph ${i} of ${randomUUID()} describes parcels and freight.`,
  ).join("\n\n");

/** Attackers of streams and of A2A: what is long, and not read. */
const STREAM_ATTACKERS: Attacker[] = [
  {
    resource: "event streams",
    does: "80 streams of 45 events of 0.9 MB, from their beginning, that are not read",
    victim: "publish",
    async prepare({ agents: [agent] }) {
      const event = { ...sampleEvent(randomUUID(), "com.example.long"), data: "x".repeat(900_000) };
      for (let i = 0; i < 45; i++)
        await agent?.client.ask("POST", "/events", [{ ...event, id: randomUUID() }], BATCH_TYPE);
      return undefined;
    },
    hold: ({ url, client }) =>
      holdOpen(80, () => openUnread(`${url}/events/stream?since=2020-01-01T00:00:00Z`, client.token)),
    strike: ({ client }) => client.ask("GET", "/events?limit=1"),
    width: 1,
  },
  {
    resource: "A2A tasks",
    does: "lists of 40 tasks of 0.4 MB, and 60 subscriptions to one of them",
    victim: "publish",
    async prepare({ url, person, agents: [agent] }) {
      await person.send("PATCH", `/agents/${agent?.id}`, { a2a: true });
      let sent: A2aAnswer = {};
      for (let i = 0; i < 40; i++) {
        const message = {
          role: "ROLE_USER",
          messageId: randomUUID(),
          parts: [{ text: "x".repeat(400_000) }],
        };
        const params = { message, configuration: { returnImmediately: true } };
        sent = await callA2a(
          `${addressOf(url)}/a2a/${agent?.id}`,
          agent?.client.token,
          "SendMessage",
          params,
        );
      }
      return `${agent?.id} ${sent.result?.task.id}`;
    },
    hold: ({ url, client, target = "" }) => {
      const [agent_id, id] = target.split(" ");
      const body = rpcText("SubscribeToTask", { id });
      return holdOpen(60, () => openUnread(`${addressOf(url)}/a2a/${agent_id}`, client.token, body));
    },
    strike: async ({ url, client, target = "" }) => {
      const [agent_id, id] = target.split(" ");
      await client.ask("POST", `/a2a-tasks/${id}/status`, { state: "working", message: randomUUID() });
      await callA2a(`${addressOf(url)}/a2a/${agent_id}`, client.token, "ListTasks", { pageSize: 100 });
    },
    width: 8,
  },
];

/** Attackers of what looks cheap, and whose cost only shows once it is done. */
const DEAR_ATTACKERS: Attacker[] = [
  {
    resource: "an agent's deliveries",
    does: "lists of 200 deliveries of events of 0.9 MB",
    victim: "publish",
    async prepare({ person, agents: [agent] }) {
      await person.ask("POST", `/agents/${agent?.id}/interests`, { event_type: "com.example.long.*" });
      const event = { ...sampleEvent(randomUUID(), "com.example.long.one"), data: "x".repeat(900_000) };
      for (let i = 0; i < 100; i++)
        await agent?.client.ask("POST", "/events", [{ ...event, id: randomUUID() }], BATCH_TYPE);
      return agent?.id;
    },
    strike: ({ client, target }) => client.ask("GET", `/agents/${target}/deliveries?limit=200`),
    width: 32,
  },
  {
    resource: "evidence of approvals",
    does: "questions with 20 events of 0.9 MB as evidence",
    victim: "publish",
    async prepare({ agents: [agent] }) {
      const ids: string[] = [];
      for (let i = 0; i < 20; i++) {
        const data = Array.from({ length: 90_000 }, (_, n) => 1_000_000_000 + n);
        const event = { ...sampleEvent(randomUUID(), "com.example.evidence"), data };
        const { status, body } = (await agent?.client.ask("POST", "/events", event)) ?? {};
        if (status === 202) ids.push(body.event_id);
        else await setTimeout(1000);
      }
      return ids.join();
    },
    strike: ({ client, target = "" }) => {
      const evidence = target.split(",").map((id) => ({ kind: "event", id }));
      return client.ask("POST", "/approvals", { title: "May we?", question: "May we?", evidence });
    },
    width: 16,
  },
  {
    resource: "counts of replays",
    does: "counts over 1,000 events with 40 costly filters",
    victim: "publish",
    async prepare({ person, agents: [agent] }) {
      const data = { of: Array.from({ length: 60 }, (_, i) => i) };
      for (let i = 0; i < 10; i++) {
        const batch = Array.from({ length: 100 }, () => ({
          ...sampleEvent(randomUUID(), "com.example.counted"),
          data,
        }));
        await agent?.client.ask("POST", "/events", batch, BATCH_TYPE);
      }
      for (let i = 0; i < 40; i++)
        await person.ask("POST", `/agents/${agent?.id}/interests`, {
          event_type: "com.example.counted",
          filter_expression: `data.of.exists(x, data.of.exists(y, x * y == ${100_000 + i}))`,
        });
      return agent?.id;
    },
    strike: ({ person, target }) =>
      person.ask("POST", `/agents/${target}/replays:count`, {
        from: new Date(Date.now() - 3_600_000).toISOString(),
      }),
    width: 16,
  },
];

/** Attackers of lists whose rows are large, and of what is asked without a credential. */
const LIST_ATTACKERS: Attacker[] = [
  {
    resource: "lists of schedules",
    does: "lists of 60 schedules of 0.9 MB",
    victim: "publish",
    async prepare({ person }) {
      for (let i = 0; i < 60; i++)
        await person.ask("POST", "/schedules", {
          name: `long ${i}`,
          cron: "0 0 1 1 *",
          event: { type: "com.example.long", data: { text: "x".repeat(900_000) } },
        });
      return undefined;
    },
    strike: ({ person }) => person.ask("GET", "/schedules?limit=100"),
    width: 15,
  },
  {
    resource: "lists of state",
    does: "lists of 100 values of 65 KB",
    victim: "publish",
    async prepare({ agents: [agent] }) {
      for (let i = 0; i < 10; i++) {
        const keys = Array.from({ length: 10 }, (_, n) => ({ key: `k${i}-${n}`, value: "v".repeat(65_000) }));
        await agent?.client.ask("POST", "/state/long", { entries: keys });
      }
      return undefined;
    },
    strike: ({ client }) => client.ask("GET", "/state/long?limit=100"),
    width: 90,
  },
  {
    resource: "unsigned webhooks",
    does: "forms of 65 KB with a false signature to a tenant of 50 webhooks",
    victim: "publish",
    async prepare({ person, slug }) {
      const mapping = { entity: "x", action: "y" };
      for (let i = 0; i < 50; i++)
        await person.ask("POST", "/ingest/webhooks", { name: `hook ${i}`, source: "/forms", mapping });
      return slug;
    },
    strike: ({ url, target }) =>
      sendText(addressOf(url), null, `/w/${target}`, "application/x-www-form-urlencoded", WIDE_FORM, {
        "x-twilio-signature": "AAAA",
      }),
    width: 4,
  },
  {
    resource: "registration of clients",
    does: "registrations of OAuth clients without a credential",
    victim: "publish",
    strike: ({ url }) => {
      const redirect_uris = Array.from({ length: 10 }, (_, i) => `https://${i}.example/${"x".repeat(200)}`);
      const body = Buffer.from(JSON.stringify({ client_name: randomUUID(), redirect_uris }));
      return sendText(addressOf(url), null, "/oauth/register", "application/json", body);
    },
    width: 16,
  },
];

export const ATTACKERS: Attacker[] = [
  ...STREAM_ATTACKERS,
  ...DEAR_ATTACKERS,
  ...LIST_ATTACKERS,
  {
    resource: "matching",
    does: "95 costly globs, batches of 20 events with long types",
    victim: "publish",
    async prepare({ agents: [agent] }) {
      for (let i = 0; i < 95; i++)
        await agent?.client.ask("POST", `/agents/${agent.id}/interests`, {
          event_type: `${GLOB}${"?".repeat(i)}*`,
        });
      return undefined;
    },
    strike: ({ client }) => {
      const events = Array.from({ length: 20 }, () => sampleEvent(randomUUID(), `${"a".repeat(250)}b`));
      return client.ask("POST", "/events", events, BATCH_TYPE);
    },
    width: 8,
  },
  {
    resource: "sign-in bodies",
    does: "bodies of 0.9 MB of empty objects, without a token",
    victim: "publish",
    strike: ({ url }) => sendText(url, null, "/auth/login", "application/json", TINY_VALUES),
    width: 16,
  },
  {
    resource: "bodies",
    does: "88 memories at once with 21,000 objects each",
    victim: "memory",
    strike: ({ client }) => {
      const metadata = { list: Array.from({ length: 21_000 }, () => ({})) };
      return client.ask("POST", "/memories", { ...MEMORY, title: "x", content: "x", metadata });
    },
    width: 88,
  },
  {
    resource: "batches",
    does: "batches of 100 events of 490 empty objects each",
    victim: "batch",
    strike: ({ url, client }) => sendText(url, client.token, "/events", BATCH_TYPE, WIDE_BATCH),
    width: 8,
  },
  {
    resource: "push and DNS",
    does: "40 endpoints whose names nobody answers",
    victim: "push",
    async prepare({ person }) {
      for (let i = 0; i < 40; i++) {
        const delivery_endpoint = `http://silent-${i}.example/`;
        const agent = { name: `silent ${i}`, delivery_mode: "push", delivery_endpoint };
        const { id } = await person.send("POST", "/agents", agent);
        await person.send("POST", `/agents/${id}/interests`, { event_type: "com.example.silent" });
      }
      return undefined;
    },
    strike: ({ client }) => client.ask("POST", "/events", sampleEvent(randomUUID(), "com.example.silent")),
    width: 2,
  },
  {
    resource: "exports",
    does: "twelve exports of a long text at once",
    victim: "export",
    prepare: async ({ agents: [agent] }) => {
      const body = longText(4_000);
      const made = await agent?.client.send("POST", "/outputs", { body, scope: "institutional" });
      return made.id;
    },
    strike: ({ person, target }) => person.ask("GET", `/outputs/${target}/export?format=pdf`),
    width: 12,
  },
  {
    resource: "statistics",
    does: "200 live streams of one person",
    victim: "publish",
    hold: (striker) => holdOpen(200, () => openStream(striker)),
    strike: async ({ person }) => person.ask("GET", "/stats"),
    width: 1,
  },
  {
    resource: "heavy reads",
    does: "dry runs of erasures and counts of everything",
    victim: "publish",
    strike: async ({ person }) => {
      await person.ask("POST", "/memories/erase", { subject: "freight", dry_run: true });
      await person.ask("GET", "/memories/health");
    },
    width: 16,
  },
  {
    resource: "search",
    does: "searches of new words, one after the other",
    victim: "search",
    strike: ({ client }) =>
      client.ask("POST", "/memories/search", { query: longText(6).slice(0, 1000), limit: 50, explain: true }),
    width: 16,
  },
  {
    resource: "embeddings",
    does: "memories of 30,000 characters",
    victim: "vector",
    strike: ({ client }) =>
      client.ask("POST", "/memories", {
        ...MEMORY,
        title: randomUUID(),
        content: longText(400).slice(0, 30_000),
      }),
    width: 4,
  },
  {
    resource: "parsing of documents",
    does: "PDFs of 3 KB that take longer to read than allowed",
    victim: "document",
    strike: ({ client }) =>
      client.ask("POST", "/documents", {
        file_content: endlessPdf(randomUUID()).toString("base64"),
        filename: `${randomUUID()}.pdf`,
        mime_type: "application/pdf",
      }),
    width: 2,
  },
];

/** Returns a function that closes them. */
function holdOpen(count: number, open: () => ClientRequest): () => void {
  const requests = Array.from({ length: count }, open);
  return () => {
    for (const each of requests) each.destroy();
  };
}

/** Opens a stream and reads nothing of it. */
function openUnread(address: string, token: string, body?: string): ClientRequest {
  const req = request(address, { ...a2aOptions(token, body), agent: false });
  req.on("response", (res) => res.pause().on("error", () => {}));
  req.on("error", () => {});
  req.end(body);
  return req;
}

/** The address of the server without the version, where the protocol is. */
const addressOf = (url: string) => new URL(url).origin;

const rpcText = (method: string, params: object) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });

function a2aOptions(token: string, body?: string) {
  const headers: Record<string, string> = { authorization: `Bearer ${token}` };
  if (body !== undefined)
    Object.assign(headers, { "content-type": "application/json", "a2a-version": "1.0" });
  return { method: body === undefined ? "GET" : "POST", headers };
}

interface A2aAnswer {
  result?: { task: { id: string } };
}

async function callA2a(
  address: string,
  token: string | undefined,
  method: string,
  params: object,
): Promise<A2aAnswer> {
  const body = rpcText(method, params);
  const response = await fetch(address, { ...a2aOptions(token ?? "", body), body });
  return (await response.json()) as A2aAnswer;
}

function openStream({ url, person }: Striker) {
  const req = request(`${url}/live`, { headers: { authorization: `Bearer ${person.token}` }, agent: false });
  req.on("response", (res) => res.resume().on("error", () => {}));
  req.on("error", () => {});
  req.end();
  return req;
}
