import { randomUUID } from "node:crypto";
import { Fault } from "../../../lib/contract/faults.ts";

const PROCESS = randomUUID();

/** What a request holds its key by. */
export function newLease(): string {
  return `${PROCESS}/${randomUUID()}`;
}

/** Whether a lease was made by this process. */
export function isOurs(lease: string): boolean {
  return lease.startsWith(PROCESS);
}

/** What a request is told that waited in vain for the one that holds its key. */
export function stillRunning(): Fault {
  const message = "The first request with this Idempotency-Key is still running; try again.";
  return new Fault("service_unavailable", message, { retry_after_seconds: 1 });
}
