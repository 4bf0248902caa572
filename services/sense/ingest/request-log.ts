import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceBroker } from "moleculer";
import { redact } from "../../../lib/text/redact.ts";
import { reportChange } from "../../../middlewares/live-changes.ts";
import { inTurns } from "../../../mixins/due.ts";
import { Loop } from "../../../mixins/loop.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { LoggedRequest, WebhookDoc, WebhookLogDoc } from "./ingest.model.ts";

const KEPT = 50;
const IDLE_MS = 60_000;
/** Interval of writes under load: senders of refused requests cannot cause more than one write in it per webhook. */
const BUSY_MS = 1000;

const WITHOUT_HEADERS = { projection: { "requests.headers": 0 }, bounded: "few requests a webhook" } as const;

interface LogDeps {
  logs: TenantCollection<WebhookLogDoc>;
  webhooks: TenantCollection<WebhookDoc>;
  report(err: unknown): void;
}

type Of = Pick<WebhookDoc, "_id" | "tenant_id">;

/** The last requests of each webhook. Gathered in memory and written once a second. */
export class RequestLog {
  readonly #deps: LogDeps;
  readonly #loop: Loop;
  readonly #ended = new AbortController();
  #pending = new Map<string, { tenant_id: string; requests: LoggedRequest[] }>();
  #broker: ServiceBroker | undefined;

  constructor(deps: LogDeps) {
    this.#deps = deps;
    this.#loop = new Loop(() => this.#writeInTurn(), IDLE_MS, deps.report);
  }

  start(): void {
    this.#loop.start();
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#loop.stop();
    await this.write().catch(this.#deps.report);
  }

  add(broker: ServiceBroker, { _id, tenant_id }: Of, request: LoggedRequest): void {
    this.#broker = broker;
    const { reason } = request;
    this.#keep(_id, tenant_id, [{ ...request, reason: reason && redact(reason) }]);
    this.#loop.nudge();
  }

  async list(tenant_id: string, webhook_id: string): Promise<LoggedRequest[]> {
    const log = await this.#deps.logs.findOne(tenant_id, { _id: webhook_id });
    return (log?.requests ?? []).toReversed();
  }

  /** Returns the last request of each webhook that has had one, by the webhook's id. */
  async latest(tenant_id: string, webhooks: readonly Of[]): Promise<Map<string, LoggedRequest>> {
    const wanted = { _id: { $in: webhooks.map(({ _id }) => _id) } };
    const logs = await this.#deps.logs.find(tenant_id, wanted, WITHOUT_HEADERS);
    return new Map(logs.map(({ _id, requests }) => [_id, requests.at(-1) as LoggedRequest]));
  }

  async delete(tenant_id: string, webhook_id: string): Promise<void> {
    this.#pending.delete(webhook_id);
    await this.#deps.logs.delete(tenant_id, { _id: webhook_id });
  }

  #keep(_id: string, tenant_id: string, requests: LoggedRequest[]): void {
    const known = this.#pending.get(_id)?.requests ?? [];
    this.#pending.set(_id, { tenant_id, requests: [...known, ...requests].slice(-KEPT) });
  }

  async #writeInTurn(): Promise<boolean> {
    if (this.#pending.size === 0) return false;
    try {
      await this.write();
    } finally {
      await sleep(BUSY_MS, undefined, { signal: this.#ended.signal }).catch(() => {});
    }
    return this.#pending.size > 0;
  }

  async write(): Promise<void> {
    const pending = this.#pending;
    this.#pending = new Map();
    const tenants = [...Map.groupBy(pending, ([, { tenant_id }]) => tenant_id)];
    const units = tenants.map(([tenant_id, logs]) => ({ tenant_id, logs }));
    try {
      await inTurns("webhooks", units, async ({ tenant_id, logs }) => {
        await this.#writeOf(tenant_id, logs);
        for (const [_id] of logs) pending.delete(_id);
        if (this.#broker) reportChange(this.#broker, tenant_id, "ingest");
      });
    } catch (err) {
      const newer = this.#pending;
      this.#pending = pending;
      for (const [_id, { tenant_id, requests }] of newer) this.#keep(_id, tenant_id, requests);
      throw err;
    }
  }

  async #writeOf(tenant_id: string, logs: [string, { requests: LoggedRequest[] }][]): Promise<void> {
    const ids = { _id: { $in: logs.map(([_id]) => _id) } };
    const rows = await this.#deps.webhooks.find(tenant_id, ids, { projection: { _id: 1 } as const });
    const exist = new Set(rows.map(({ _id }) => _id));
    await this.#deps.logs.upsert(
      logs
        .filter(([_id]) => exist.has(_id))
        .map(([_id, { requests }]) => ({
          filter: { _id, tenant_id },
          update: { $push: { requests: { $each: requests, $slice: -KEPT } } },
        })),
    );
  }
}

export function presentRequest({ headers: _, event_is: __, ...entry }: LoggedRequest) {
  return entry;
}
