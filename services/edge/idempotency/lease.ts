import { randomUUID } from "node:crypto";
import { type Fault, unavailable } from "../../../lib/contract/faults.ts";

const PROCESS = randomUUID();

/** Creates a lease for a request's key. */
export function newLease(): string {
  return `${PROCESS}/${randomUUID()}`;
}

/** Whether this process created a lease. */
export function isOurs(lease: string): boolean {
  return lease.startsWith(PROCESS);
}

/** Returns the fault for a request whose wait for the key's holder timed out. */
export function stillRunning(): Fault {
  return unavailable("The first request with this Idempotency-Key is still in progress. Retry in 1 s.");
}
