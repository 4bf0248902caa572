import type { Collection, Document } from "mongodb";
import { FairQueue } from "../lib/queue/fair-queue.ts";
import type { Row } from "./model.ts";

/** Shares of a node's connections. The rest is for statements across tenants: authentication and sweeps. */
const ORDINARY = 5 / 8;
const RESERVED = 1 / 4;
/** As long as a command waits for a connection by default. */
const PATIENCE_MS = 10_000;

/** The record had no connection to spare in time. */
export class RecordBusyError extends Error {
  override readonly name = "RecordBusyError";
}

/** The queues for a node's connections to the record, divided among tenants by the time that their commands take. */
export interface RecordQueues {
  record: FairQueue;
  record_reserved: FairQueue;
}

/** @param connections 0 is no limit, which needs no queues */
export function recordQueues(connections: number | undefined): RecordQueues | null {
  if (!connections) return null;
  const queue = (share: number) =>
    new FairQueue({
      capacity: Math.max(1, Math.floor(connections * share)),
      maxWaiting: Number.POSITIVE_INFINITY,
      patienceMs: PATIENCE_MS,
      chargeTime: true,
    });
  return { record: queue(ORDINARY), record_reserved: queue(RESERVED) };
}

export function queued(native: Collection<Row>, queue: FairQueue): Collection<Row> {
  const inTurn = async <R>(tenant_id: string, command: () => Promise<R>): Promise<R> => {
    const release = await queue.acquire({ tenant_id, caller: "" }, 1).catch(() => {
      throw new RecordBusyError("the record has no connection to spare");
    });
    try {
      return await command();
    } finally {
      release();
    }
  };
  return new Proxy(native, {
    get(target, name) {
      const member = target[name as keyof Collection<Row>];
      if (typeof member !== "function") return member;
      const call = member.bind(target) as (...args: unknown[]) => never;
      // A cursor is a command only when it is read; a collection reads all of it at once.
      if (name === "find")
        return (filter: Document, options?: object) => ({
          toArray: () => inTurn(filter.tenant_id, () => target.find(filter, options).toArray()),
        });
      return (...args: unknown[]) => inTurn(tenantOf(args[0]), () => call(...args));
    },
  });
}

/** Returns the tenant of a filter or document, or of the first write or document of many. */
function tenantOf(given: unknown): string {
  const first = ((Array.isArray(given) ? given[0] : given) ?? {}) as Document;
  if ("tenant_id" in first) return first.tenant_id;
  const [write] = Object.values(first) as { filter: { tenant_id: string } }[];
  return write?.filter.tenant_id ?? "";
}
