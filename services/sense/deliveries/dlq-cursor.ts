import { invalidCursor } from "../../../lib/contract/faults.ts";
import { idPattern } from "../../../lib/ids.ts";

/** A place in the dead letters: after the row that died then and has this id. */
export interface Position {
  at: Date;
  id: string;
}

const CURSOR = new RegExp(`^(\\d{1,15}) (${idPattern("dlv").slice(1, -1)})$`);

export function toCursor({ at, id }: Position): string {
  return Buffer.from(`${at.getTime()} ${id}`).toString("base64url");
}

/** @throws Fault validation_failed for what `toCursor` never made */
export function fromCursor(cursor: string): Position {
  const match = CURSOR.exec(Buffer.from(cursor, "base64url").toString());
  if (!match) throw invalidCursor(cursor);
  return { at: new Date(Number(match[1])), id: match[2] as string };
}
