import type { Db, Document } from "mongodb";
import type { Store } from "../../storage/connection.ts";

type Subject = { store: Store; url: string; mayStepDown: boolean };

/** Returns what it saw. @throws NotSupported where this server cannot show it, Error where it is not as promised. */
export type Check = (subject: Subject) => Promise<string>;

export class NotSupported extends Error {}

export const dbOf = (store: Store) => store.connection.db as unknown as Db;

/** Returns all stages of a plan, by name. */
export function stagesOf(plan: unknown): string[] {
  if (Array.isArray(plan)) return plan.flatMap(stagesOf);
  if (typeof plan !== "object" || plan === null) return [];
  const { stage } = plan as Document;
  return [...(typeof stage === "string" ? [stage] : []), ...Object.values(plan).flatMap(stagesOf)];
}

/** Asks for a plan. @throws NotSupported where the server has none */
export async function explained(explain: () => Promise<Document>): Promise<Document> {
  const plan = await explain().catch((error: Error & { code?: number }) => {
    if (error.code === COMMAND_NOT_FOUND) throw new NotSupported(`no explain: ${error.message}`);
    throw error;
  });
  return plan;
}

const COMMAND_NOT_FOUND = 59;
