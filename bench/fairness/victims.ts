import { randomUUID } from "node:crypto";
import type { Endpoint } from "../../test/support/endpoint.ts";
import { settle } from "../../test/support/settle.ts";
import { BATCH_TYPE, type Client } from "../lib/http.ts";
import { sampleEvent } from "../lib/world.ts";
import type { Tenant } from "./tenants.ts";

/** A victim's repeated action, which resolves with its result. */
export interface Victim {
  what: string;
  perSecond: number;
  /** @returns the status of the answer */
  act(client: Client): Promise<number>;
}

const PUSHED = "com.example.pushed";
const QUICK = { every: 20, within: 60_000 };
/** Each check is a search, and the vector takes seconds. */
const SLOWLY = { every: 250, within: 60_000 };

/** Returns the victims by name. */
export function victimsOf(tenant: Tenant, endpoint: Endpoint, output_id: string) {
  const simple = (what: string, perSecond: number, act: Victim["act"]): Victim => ({ what, perSecond, act });
  const status = (answer: Promise<{ status: number }>) => answer.then((given) => given.status);
  return {
    publish: simple("publish", 20, (client) =>
      status(client.ask("POST", "/events", sampleEvent(randomUUID()))),
    ),
    batch: simple("publish of a batch of 0.6 MB", 2, (client) =>
      status(client.ask("POST", "/events", largeBatch(), BATCH_TYPE)),
    ),
    memory: simple("memory", 20, (client) => status(client.ask("POST", "/memories", newMemory()))),
    search: simple("search", 10, (client) =>
      status(client.ask("POST", "/memories/search", { query: `freight ${randomUUID()}` })),
    ),
    vector: simple("memory until it has its vector", 2, async (client) => {
      const { body } = await client.ask("POST", "/memories", newMemory());
      await settle(() => hasVector(client, body.title), SLOWLY);
      return 201;
    }),
    document: simple("note until it is stored", 2, async (client) => {
      const { document_id } = (await client.ask("POST", "/documents", newNote())).body;
      await settle(
        async () => (await client.ask("GET", `/documents/${document_id}`)).body.status === "stored",
        QUICK,
      );
      return 202;
    }),
    export: simple("export as PDF", 1, () =>
      status(tenant.person.ask("GET", `/outputs/${output_id}/export?format=pdf`)),
    ),
    push: simple("publish until it is pushed", 5, async (client) => {
      const id = randomUUID();
      const { status } = await client.ask("POST", "/events", sampleEvent(id, PUSHED));
      await settle(() => endpoint.pushed.some(({ body }) => body.includes(id)), QUICK);
      return status;
    }),
  };
}

/** Creates an agent of the tenant that receives by push. */
export async function pushTo(tenant: Tenant, delivery_endpoint: string): Promise<void> {
  const agent = { name: "pushed", delivery_mode: "push", delivery_endpoint };
  const { id } = await tenant.person.send("POST", "/agents", agent);
  await tenant.person.send("POST", `/agents/${id}/interests`, { event_type: PUSHED });
}

function largeBatch() {
  return Array.from({ length: 100 }, () => ({
    ...sampleEvent(randomUUID()),
    data: { text: "x".repeat(6_000) },
  }));
}

function newMemory() {
  const title = `Note ${randomUUID()}`;
  return { type: "semantic", scope: "agent", title, content: `Parcels over 30 kg go by freight. ${title}` };
}

function newNote() {
  const text = `Note ${randomUUID()}: parcels over 30 kg go by freight.`;
  return {
    file_content: Buffer.from(text).toString("base64"),
    filename: `${randomUUID()}.txt`,
    mime_type: "text/plain",
  };
}

async function hasVector(client: Client, title: string): Promise<boolean> {
  const { status, body } = await client.ask("POST", "/memories/search", { query: title, limit: 3 });
  if (status !== 200) return false;
  return body.results.some(
    (result: { memory: { title: string }; sources: { vector?: number } }) =>
      result.memory.title === title && (result.sources.vector ?? 0) > 0,
  );
}
