import type { DeadLetter } from "../../../../client/index.ts";

/** Returns the subject of a dead letter in a few words. */
export function typeOf({ payload }: DeadLetter): string {
  const { type } = (payload ?? {}) as { type?: unknown };
  return typeof type === "string" ? type : "Not an event";
}
