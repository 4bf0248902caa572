import { isFault } from "../contract/faults.ts";

/** The answer to one event (spec: Event, publish result). */
export interface Published {
  event_id: string;
  status: "accepted" | "duplicate";
  differs?: true;
  /** Why nobody may be subscribed to its type. */
  warnings?: string[];
}

export type BatchAnswer =
  | Published
  | { status: "rejected"; error: { code: string; message: string; details: Record<string, unknown> } };

/** Formats the answer to a batch: one result per event, in order (api.md Events). */
export function toAnswers(results: (Published | Error)[]): BatchAnswer[] {
  return results.map((result) => (result instanceof Error ? rejected(result) : result));
}

function rejected(err: Error): BatchAnswer {
  if (!isFault(err)) {
    const message = "The service failed unexpectedly. Publish the event again.";
    return { status: "rejected", error: { code: "internal_error", message, details: {} } };
  }
  const details = (err.data ?? {}) as Record<string, unknown>;
  return { status: "rejected", error: { code: err.type, message: err.message, details } };
}
