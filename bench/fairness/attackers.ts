import { randomUUID } from "node:crypto";
import { request } from "node:http";
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
const TEN_MEGABYTES = emptyObjects(3_300_000);
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
): Promise<number> {
  return new Promise((resolve) => {
    const headers: Record<string, string> = { "content-type": type };
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

export const ATTACKERS: Attacker[] = [
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
    does: "88 memories at once with 9,500 objects each",
    victim: "memory",
    strike: ({ client }) => {
      const metadata = { list: Array.from({ length: 9_500 }, () => ({})) };
      return client.ask("POST", "/memories", { ...MEMORY, title: "x", content: "x", metadata });
    },
    width: 88,
  },
  {
    resource: "batches",
    does: "batches of 10 MB of empty objects",
    victim: "batch",
    strike: ({ url, client }) => sendText(url, client.token, "/events", BATCH_TYPE, TEN_MEGABYTES),
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
    hold: (striker) => {
      const streams = Array.from({ length: 200 }, () => openStream(striker));
      return () => {
        for (const stream of streams) stream.destroy();
      };
    },
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

function openStream({ url, person }: Striker) {
  const req = request(`${url}/live`, { headers: { authorization: `Bearer ${person.token}` }, agent: false });
  req.on("response", (res) => res.resume().on("error", () => {}));
  req.on("error", () => {});
  req.end();
  return req;
}
