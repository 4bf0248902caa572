import type { Operation } from "../../lib/contract/contract.ts";

/** Target of the command line: a running server, or the store. */
export interface Target {
  /** Runs an operation. Throws an AdminError with the reason if it fails. */
  call(op: Operation, params: Record<string, unknown>): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

/** The identity given on the command line. */
export interface Identity {
  /** The server's address; default: the one in `credentials.json`. */
  url?: string | undefined;
  /** The slug of the tenant. */
  tenant?: string | undefined;
  email?: string | undefined;
  password?: string | undefined;
  /** Of the second factor. */
  code?: string | undefined;
}

/** A one-line message for the operator. */
export class AdminError extends Error {
  /** The server's, if it refused. */
  readonly code: string | undefined;

  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}
