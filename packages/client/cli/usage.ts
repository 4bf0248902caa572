import type { ApiError } from "../errors.ts";

/** Wrong usage: printed without a stack, with the command's usage. */
export class UsageError extends Error {}

/** Codes of failures that are not the service's, documented in docs/guides/client.md. */
type FailureCode =
  | "check_failed"
  | "command_failed"
  | "not_accepted"
  | "not_approved"
  | "not_confirmed"
  | "not_found"
  | "not_signed_in"
  | "not_stored"
  | "query_failed"
  | "unavailable_here"
  | "unknown_profile"
  | "unreadable_file";

/** An external failure, with the remedy in its message: printed without a stack. */
export class Failure extends Error {
  /** For programs: a code, or the service's answer that caused the failure. */
  readonly why: FailureCode | ApiError;

  constructor(message: string, why: FailureCode | ApiError) {
    super(message);
    this.why = why;
  }
}
