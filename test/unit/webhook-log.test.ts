import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { ServiceBroker } from "moleculer";
import { WebhookLogModel, WebhookModel } from "../../services/sense/ingest/ingest.model.ts";
import { keptHeaders } from "../../services/sense/ingest/kept-headers.ts";
import { refusedEntry } from "../../services/sense/ingest/receive.ts";
import { RequestLog } from "../../services/sense/ingest/request-log.ts";
import { type TemporaryStore, temporaryStore } from "../support/own-store.ts";
import { settle } from "../support/settle.ts";

const AT = new Date("2026-01-31T09:30:00Z");
const refused = (n: number) => refusedEntry(`req_${n}`, AT, "signature does not match", n);
const broker = { broadcast: () => Promise.resolve() } as unknown as ServiceBroker;
const hook = (_id: string) => ({ _id, tenant_id: "tn_1" });

describe("the log of a webhook's requests", () => {
  let temporary: TemporaryStore;
  let log: RequestLog;
  let writes: number;
  let failing: boolean;

  beforeEach(async () => {
    temporary = await temporaryStore();
    const logs = temporary.store.collection(WebhookLogModel);
    const webhooks = temporary.store.collection(WebhookModel);
    const upsert = logs.upsert.bind(logs);
    [writes, failing] = [0, false];
    logs.upsert = async (changes) => {
      writes += 1;
      if (failing) throw new Error("the store is away");
      return upsert(changes);
    };
    for (const _id of ["whk_1", "whk_2"]) {
      const given = { ...hook(_id), name: _id, source: _id, mapping: "cloudevents", signature: null };
      const signing = { signing_secrets: [], signing_version: 1 };
      await webhooks.insert({ ...given, ...signing, created_at: AT, updated_at: AT });
    }
    log = new RequestLog({ logs, webhooks, report: () => {} });
    log.start();
  });
  afterEach(async () => {
    await log.stop();
    await temporary.remove();
  });

  const latest = async (id: string) => (await log.list("tn_1", id))[0]?.request_id;

  test("is written once a second, however many requests come, and keeps the last 50", async () => {
    for (let n = 0; n < 5000; n++) for (const id of ["whk_1", "whk_2"]) log.add(broker, hook(id), refused(n));
    await settle(async () => (await latest("whk_2")) === "req_4999");
    // The first request at once, the others together.
    expect(writes).toBeLessThanOrEqual(2);
    const requests = await log.list("tn_1", "whk_1");
    expect(requests.map(({ size }) => size)).toEqual(Array.from({ length: 50 }, (_, i) => 4999 - i));
  });

  test("is written when the node stops", async () => {
    log.add(broker, hook("whk_1"), refused(1));
    log.add(broker, hook("whk_1"), refused(2));
    await log.stop();
    expect(await latest("whk_1")).toBe("req_2");
  });

  test("keeps requests while the store is away, in order", async () => {
    failing = true;
    log.add(broker, hook("whk_1"), refused(1));
    await settle(() => writes > 0);
    for (let n = 0; n < 40; n++) log.add(broker, hook("whk_1"), refused(2));
    expect(writes).toBe(1);
    failing = false;
    await settle(async () => (await latest("whk_1")) === "req_2");
    expect(writes).toBe(2);
    expect((await log.list("tn_1", "whk_1")).at(-1)?.request_id).toBe("req_1");
  });

  test("is not written again for a webhook that does not exist", async () => {
    log.add(broker, hook("whk_gone"), refused(1));
    log.add(broker, hook("whk_1"), refused(2));
    await settle(async () => (await latest("whk_1")) === "req_2");
    expect(await log.list("tn_1", "whk_gone")).toEqual([]);
  });
});

test("of headers, those are kept that say what a request is about, and of others the name", () => {
  const headers = {
    ...{ host: "a", "user-agent": "b", accept: "*/*", "x-forwarded-for": "1.2.3.4", "content-length": "7" },
    ...{ authorization: "Bearer x", cookie: "c", "x-gitlab-token": "t", "x-hub-signature-256": "s" },
    ...{ "x-auth": "a", "x-session-id": "i", "x-shop-pin": "p", "x-github-token": "t", "x-tenant": "acme" },
    ...{ "content-type": "application/json", "x-github-event": "issues", "ce-type": "com.example.t" },
    ...{ "x-event-key": "repo:push", "x-kind": "k", "x-long-type": "l".repeat(1500), "x-late": "1" },
  };
  const hidden = "authorization cookie x-gitlab-token x-hub-signature-256 x-auth x-session-id".split(" ");
  expect(keptHeaders(headers, ["header:X-Tenant", "header:X-Auth", "/body", null])).toEqual({
    ...Object.fromEntries([...hidden, "x-shop-pin", "x-github-token", "x-late"].map((name) => [name, null])),
    ...{ "content-type": "application/json", "x-github-event": "issues", "ce-type": "com.example.t" },
    ...{ "x-event-key": "repo:push", "x-kind": "k", "x-tenant": "acme" },
  });
});
