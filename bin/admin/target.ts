import type { Operation } from "../../lib/contract/contract.ts";

/** What the command line works on: a running server, or the store itself. */
export interface Target {
  /** Carries out an operation. Throws an AdminError with what went wrong. */
  call(op: Operation, params: Record<string, unknown>): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

/** Whom to act for, as the command line says. */
export interface Identity {
  /** Where the server is; else as `credentials.json` has it. */
  url?: string | undefined;
  /** The slug of the tenant. */
  tenant?: string | undefined;
  email?: string | undefined;
  password?: string | undefined;
}

/** What the operator is told in one line. */
export class AdminError extends Error {}
