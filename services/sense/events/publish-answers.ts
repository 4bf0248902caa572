import { isFault } from "../../../lib/contract/faults.ts";
import type { Published } from "./publish.ts";

/** What a batch is told of one event. */
export type BatchAnswer =
  | Published
  | { status: "rejected"; error: { code: string; message: string; details: Record<string, unknown> } };

/** The answer to a batch: one result for each event, in order (api.md Events). */
export function toAnswers(results: (Published | Error)[]): BatchAnswer[] {
  return results.map((result) => (result instanceof Error ? rejected(result) : result));
}

function rejected(err: Error): BatchAnswer {
  if (!isFault(err)) {
    const message = "Something failed here; the event can be sent again.";
    return { status: "rejected", error: { code: "internal_error", message, details: {} } };
  }
  const details = (err.data ?? {}) as Record<string, unknown>;
  return { status: "rejected", error: { code: err.type, message: err.message, details } };
}
