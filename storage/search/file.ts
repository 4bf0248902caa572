import { rmSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { emptyLog, OVERWRITE_DELETED, rewrite } from "mongoose-sqlite/scrub";
import { TERMS_VERSION } from "../../lib/text/terms.ts";
import { ENTRY_VERSION, type OfKind, type SearchKind } from "./entry.ts";
import type { EntryRow } from "./entry-table.ts";
import type { PackedTerms } from "./postings.ts";
import { ERASURES_CURSOR, MOST_AWAY_MS, type Size, type Unembedded, type VectorRow } from "./protocol.ts";
import type { Quantised } from "./vector-memory.ts";

/** A change of what entries hold, of the terms or of the tables below rebuilds the index. */
const VERSION = ENTRY_VERSION * 1000 + TERMS_VERSION;
const CACHE_KIB = 2048;
const BUSY_MS = 5000;

const TABLES = `
  CREATE TABLE entries (
    rid INTEGER PRIMARY KEY, tenant TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL,
    removed INTEGER NOT NULL, hash TEXT, entry TEXT, terms BLOB, model INTEGER NOT NULL, scale REAL, vector BLOB,
    UNIQUE (tenant, kind, id)
  );
  -- Finds the tenants with entries without a vector, and those entries.
  CREATE INDEX waiting ON entries (model, tenant, kind) WHERE removed = 0;
  CREATE TABLE texts (rid INTEGER PRIMARY KEY, text TEXT NOT NULL);
  CREATE TABLE models (number INTEGER PRIMARY KEY, name TEXT NOT NULL, dims INTEGER);
  CREATE TABLE cursors (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  PRAGMA user_version = ${VERSION};`;

/** A stored entry; if `content` is null, it was removed and its version kept. */
export interface StoredEntry extends OfKind {
  id: string;
  version: number;
  content: { entry: EntryRow; terms: PackedTerms; hash: string; text: string } | null;
}

interface LoadedEntry {
  entry: EntryRow;
  terms: PackedTerms;
  vector: Quantised | null;
}

/** The entries to load: those with ids after `after`. */
interface LoadPage extends OfKind {
  after: string;
  limit: number;
}

export interface Model {
  number: number;
  name: string;
  dims: number | null;
}

/**
 * The index on disk. It is derived, so writes are not synced individually, and an unusable file is rebuilt. If the
 * machine crashes, the cursors lose the same writes as the entries and catch up.
 */
export class SearchFile {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(file: string) {
    this.#db = open(file);
  }

  transaction<T>(work: () => T): T {
    this.#run("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.#run("COMMIT");
      return result;
    } catch (err) {
      if (this.#db.isTransaction) this.#run("ROLLBACK");
      throw err;
    }
  }

  /**
   * Returns whether this version is now stored, which it is not if a newer one exists, and the model of the vector it
   * keeps (0: none).
   */
  put({ tenant_id, kind, id, version, content }: StoredEntry): { isCurrent: boolean; model: number } {
    const { entry, terms, hash } = content ?? { entry: null, terms: null, hash: null };
    const row = this.#prepare(
      `INSERT INTO entries (tenant, kind, id, version, removed, hash, entry, terms, model)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)
       ON CONFLICT (tenant, kind, id) DO UPDATE SET version = excluded.version, removed = excluded.removed,
         model = iif(hash IS excluded.hash, model, 0), vector = iif(hash IS excluded.hash, vector, NULL),
         hash = excluded.hash, entry = excluded.entry, terms = excluded.terms
       WHERE excluded.version > version
       RETURNING rid, model`,
    ).get(tenant_id, kind, id, version, content ? 0 : 1, hash, entry && JSON.stringify(entry), terms) as
      | { rid: number; model: number }
      | undefined;
    if (!row) {
      const newest = this.find(tenant_id, kind, id);
      return { isCurrent: newest?.version === version, model: newest?.model ?? 0 };
    }
    if (content) this.#run("INSERT OR REPLACE INTO texts VALUES (?, ?)", row.rid, content.text);
    else this.#run("DELETE FROM texts WHERE rid = ?", row.rid);
    return { isCurrent: true, model: row.model };
  }

  /** Returns the stored version, also of a removed entry, and the model of its vector (0: none). */
  find(tenant_id: string, kind: SearchKind, id: string) {
    const select = "SELECT version, model FROM entries WHERE tenant = ? AND kind = ? AND id = ?";
    return this.#all<{ version: number; model: number }>(select, tenant_id, kind, id)[0];
  }

  /** Erases entries; returns how many there were, and how many of them had a vector. */
  drop(tenant_id: string, kind: SearchKind, id: string): { entries: number; vectors: number } {
    const row = this.#prepare(
      "DELETE FROM entries WHERE tenant = ? AND kind = ? AND id = ? RETURNING rid, vector IS NOT NULL AS embedded",
    ).get(tenant_id, kind, id) as { rid: number; embedded: number } | undefined;
    if (!row) return { entries: 0, vectors: 0 };
    this.#run("DELETE FROM texts WHERE rid = ?", row.rid);
    return { entries: 1, vectors: row.embedded };
  }

  dropTenant(tenant_id: string): void {
    this.#run("DELETE FROM texts WHERE rid IN (SELECT rid FROM entries WHERE tenant = ?)", tenant_id);
    this.#run("DELETE FROM entries WHERE tenant = ?", tenant_id);
  }

  /** Counts entries per tenant, those with the latest entry first. */
  sizes(): Size[] {
    return this.#all<Size>(
      `SELECT tenant AS tenant_id, kind, count(*) AS entries FROM entries
       GROUP BY tenant, kind ORDER BY max(rid) DESC`,
    );
  }

  /** Returns a page of findable entries by id. */
  load({ tenant_id, kind, after, limit }: LoadPage, model: number): LoadedEntry[] {
    const rows = this.#prepare(
      `SELECT entry, terms, iif(model = ?, vector, NULL) AS vector, scale FROM entries
       WHERE tenant = ? AND kind = ? AND id > ? AND removed = 0 ORDER BY id LIMIT ?`,
    ).all(model, tenant_id, kind, after, limit) as {
      entry: string;
      terms: Uint8Array;
      vector: Uint8Array | null;
      scale: number;
    }[];
    return rows.map(({ entry, terms, vector, scale }) => ({
      entry: JSON.parse(entry) as EntryRow,
      terms,
      vector: vector && { integers: new Int8Array(vector.buffer, vector.byteOffset, vector.length), scale },
    }));
  }

  /** Returns whether the entry still exists with this text. */
  setVector(
    { tenant_id, kind, id, hash }: Omit<VectorRow, "vector">,
    model: number,
    { integers, scale }: Quantised,
  ): boolean {
    const bytes = new Uint8Array(integers.buffer, integers.byteOffset, integers.length);
    const changed = this.#run(
      `UPDATE entries SET model = ?, scale = ?, vector = ?
       WHERE tenant = ? AND kind = ? AND id = ? AND hash = ? AND removed = 0`,
      ...[model, scale, bytes, tenant_id, kind, id, hash],
    );
    return changed === 1;
  }

  /** Returns tenants with entries that lack a vector of the model: one index seek each, however many entries wait. */
  waiting(model: number): string[] {
    const next = this.#prepare(
      "SELECT tenant FROM entries WHERE removed = 0 AND model = ? AND tenant > ? ORDER BY tenant LIMIT 1",
    );
    const tenants = new Set<string>();
    for (const earlier of this.#before(model)) {
      for (let after = ""; ; ) {
        const row = next.get(earlier, after) as { tenant: string } | undefined;
        if (!row) break;
        tenants.add(row.tenant);
        after = row.tenant;
      }
    }
    return [...tenants];
  }

  /** Returns the numbers of earlier models, with 0 for none. */
  #before(model: number): number[] {
    const rows = this.#prepare("SELECT number FROM models WHERE number < ? ORDER BY number").all(model);
    return [0, ...rows.map(({ number }) => number as number)];
  }

  unembedded(model: number, limit: number, skip: number, { tenant_id, kind }: OfKind): Unembedded[] {
    // Each model separately, so that the index seeks to the tenant directly.
    return this.#all<Unembedded>(
      `SELECT tenant AS tenant_id, kind, id, hash, text FROM entries JOIN texts USING (rid)
       WHERE removed = 0 AND model IN (SELECT 0 UNION ALL SELECT number FROM models WHERE number < ?)
         AND tenant = ? AND kind = ? LIMIT ? OFFSET ?`,
      ...[model, tenant_id, kind, limit, skip],
    );
  }

  /** Returns the beginnings of entries' texts by id. */
  texts(tenant_id: string, kind: SearchKind, ids: string[], characters: number): Record<string, string> {
    const rows = this.#all<{ id: string; text: string }>(
      `SELECT id, substr(text, 1, ?) AS text FROM entries JOIN texts USING (rid)
       WHERE tenant = ? AND kind = ? AND id IN (SELECT value FROM json_each(?))`,
      ...[characters, tenant_id, kind, JSON.stringify(ids)],
    );
    return Object.fromEntries(rows.map(({ id, text }) => [id, text]));
  }

  /** Counts entries without a vector of the model. */
  gap(model: number, tenant_id: string, kind: SearchKind): number {
    const count = this.#prepare(
      "SELECT count(*) AS n FROM entries WHERE tenant = ? AND kind = ? AND removed = 0 AND model < ?",
    );
    return (count.get(tenant_id, kind, model) as { n: number }).n;
  }

  /** Returns the model of this name if it was the last one used, else a new one without vectors. */
  useModel(name: string): Model {
    const [model] = this.#all<Model>("SELECT * FROM models ORDER BY number DESC LIMIT 1");
    if (model?.name === name) return { ...model };
    const number = (model?.number ?? 0) + 1;
    this.#run("INSERT INTO models VALUES (?, ?, NULL)", number, name);
    return { number, name, dims: null };
  }

  setDimensions(number: number, dims: number): void {
    this.#run("UPDATE models SET dims = ? WHERE number = ?", dims, number);
  }

  cursor(name: string): string | null {
    const row = this.#prepare("SELECT value FROM cursors WHERE name = ?").get(name);
    return (row as { value: string } | undefined)?.value ?? null;
  }

  setCursor(name: string, value: string): void {
    this.#run("INSERT OR REPLACE INTO cursors VALUES (?, ?)", name, value);
  }

  rewrite(mostBytes: number): boolean {
    return rewrite(this.#db, mostBytes);
  }

  emptyLog(): boolean {
    return emptyLog(this.#db, BUSY_MS);
  }

  close(): void {
    this.#db.close();
  }

  #run(sql: string, ...values: (string | number | null | Uint8Array)[]): number {
    return Number(this.#prepare(sql).run(...values).changes);
  }

  #all<Found>(sql: string, ...values: (string | number)[]): Found[] {
    return this.#prepare(sql).all(...values) as Found[];
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

function open(file: string): DatabaseSync {
  try {
    return openAs(file);
  } catch {
    // Damaged, of another version, or out of date for too long: the store has all of its content.
    removeFile(file);
    return openAs(file);
  }
}

export function removeFile(file: string): void {
  for (const end of ["", "-wal", "-shm"]) rmSync(file + end, { force: true });
}

function openAs(file: string): DatabaseSync {
  const db = new DatabaseSync(file);
  try {
    db.exec(`PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL`);
    db.exec(`PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = MEMORY; ${OVERWRITE_DELETED}`);
    const { user_version } = db.prepare("PRAGMA user_version").get() as { user_version: number };
    if (user_version === 0) db.exec(`BEGIN IMMEDIATE; ${TABLES} COMMIT`);
    else if (user_version !== VERSION) throw new Error(`version ${user_version}`);
    else if (isOutdated(db)) throw new Error("it lacks recent erasures");
    return db;
  } catch (err) {
    db.close();
    throw err;
  }
}

function isOutdated(db: DatabaseSync): boolean {
  const heard = db.prepare("SELECT value FROM cursors WHERE name = ?").get(ERASURES_CURSOR);
  return heard !== undefined && Date.now() - Number(heard.value) > MOST_AWAY_MS;
}
