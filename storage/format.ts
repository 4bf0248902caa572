import type { Connection } from "mongoose";
import { buildVersion } from "../lib/version.ts";
import { INSTALLATION } from "./model.ts";

/**
 * The format of the rows that this version reads and writes. Raised by a change that a node of the version before would
 * break, because it does not know a field that it has to heed: what writes such rows declares it in its contract (`needs`).
 *
 * 1: order by key, limits in flight, values, waits and deadlines of runs, approvals, replays of history, time of memories.
 */
export const FORMAT = 1;

interface FormatRow {
  _id: string;
  tenant_id: string;
  format: number;
}

export const FORMAT_ID = "format";
const ROW = { _id: FORMAT_ID, tenant_id: INSTALLATION };
const rowsOf = ({ db }: Connection) => (db as NonNullable<typeof db>).collection<FormatRow>(INSTALLATION);

/** Returns the highest format of the rows in the record; 0 if they are all as any version has them. */
export async function readFormat(connection: Connection): Promise<number> {
  return (await rowsOf(connection).findOne(ROW))?.format ?? 0;
}

/** Records, before the first row of a format is written, that there are such: older versions do not start any more. */
export async function raiseFormat(connection: Connection, format: number): Promise<void> {
  const raise = () => rowsOf(connection).updateOne(ROW, { $max: { format } }, { upsert: true });
  // Two that create the row at once: one of them finds it at its second try.
  await raise().catch(raise);
}

/** Returns why a version that knows `FORMAT` cannot use rows of a format; null if it can. */
export function unknownFormat(format: number): string | null {
  if (format <= FORMAT) return null;
  return (
    `The database has rows of format ${format}, and this version (${buildVersion()}) knows formats up to ${FORMAT}. ` +
    "Start the newer version that wrote them, or restore a backup from before."
  );
}
