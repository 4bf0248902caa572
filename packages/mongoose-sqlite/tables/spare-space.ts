import type { DatabaseSync } from "node:sqlite";

/** Of free pages, a tenth of those in use stay for rows to come, and no fewer than this (4 MB). */
const LEAST_PAGES = 1_000;
/** A step moves this many pages within some milliseconds, as one commit. */
const STEP_PAGES = 256;
/** SQLite's number of `auto_vacuum = INCREMENTAL`. */
const INCREMENTAL = 2;

/**
 * Lets a new file give space back, at the price of a page for each 820 that says what refers to them: writing takes as much
 * processor time as without.
 */
export const GIVE_BACK = "PRAGMA auto_vacuum = INCREMENTAL";

/** The pages of a file, and those of them that hold nothing. */
export interface Space {
  bytes: number;
  free: number;
}

export function readSpace(db: DatabaseSync): Space {
  const page = read(db, "page_size");
  return { bytes: read(db, "page_count") * page, free: read(db, "freelist_count") * page };
}

/** Gives the space of deleted rows back to the file system, in steps, once there is twice as much as is kept. */
export class SpareSpace {
  readonly #db: DatabaseSync;
  #isGiving = false;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** Takes a step, if there is one to take; returns whether it did. Must not run in a transaction. */
  step(): boolean {
    const free = read(this.#db, "freelist_count");
    const kept = Math.max(LEAST_PAGES, (read(this.#db, "page_count") - free) / 10);
    this.#isGiving = free > (this.#isGiving ? kept : 2 * kept) && this.#canGive();
    if (this.#isGiving) this.#db.exec(`PRAGMA incremental_vacuum(${STEP_PAGES})`);
    return this.#isGiving;
  }

  #canGive(): boolean {
    return read(this.#db, "auto_vacuum") === INCREMENTAL;
  }
}

function read(db: DatabaseSync, pragma: string): number {
  return Object.values(db.prepare(`PRAGMA ${pragma}`).get() as Record<string, number>)[0] as number;
}
