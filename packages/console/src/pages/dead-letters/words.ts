import type { DeadLetter } from "../../../../client/index.ts";

/** Returns the type of a dead letter's event in a few words. */
export function typeOf({ payload }: DeadLetter): string {
  return headersOf({ payload }).type || "Not an event";
}

/** Returns what the payload says of itself. If it was not an event, or is no longer kept, there is nothing. */
export function headersOf({ payload }: Pick<DeadLetter, "payload">) {
  const { type, subject, data } = (payload ?? {}) as Record<"type" | "subject" | "data", unknown>;
  return {
    type: typeof type === "string" ? type : "",
    subject: typeof subject === "string" ? subject : null,
    data,
  };
}

const SPENT = /^max attempts exceeded \((\d+)\): /;

/** Splits a reason: after how many attempts, if it says so, and the cause. */
export function causeOf(reason: string): { cause: string; attempts: number | null } {
  const [prefix = "", attempts] = SPENT.exec(reason) ?? [];
  return { cause: reason.slice(prefix.length), attempts: attempts === undefined ? null : Number(attempts) };
}
