import type { ApiError } from "../errors.ts";

/** What is wrong with what was typed: told without a stack, with the command's usage. */
export class UsageError extends Error {}

/** Codes of failures that are not the service's: docs/guides/client.md tells of each. */
type FailureCode = "check_failed" | "command_failed" | "not_approved" | "unknown_profile" | "unreadable_file";

/** What went wrong outside of the program, in words that say what to do: told without a stack. */
export class Failure extends Error {
  /** What programs read: a code, or the answer of the service that brought it about. */
  readonly why: FailureCode | ApiError;

  constructor(message: string, why: FailureCode | ApiError) {
    super(message);
    this.why = why;
  }
}
