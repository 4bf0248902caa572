import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Key } from "../query/values.ts";

const LIMIT = 2_000;

/** A connection with its prepared statements, by text. */
export class Statements {
  readonly db: DatabaseSync;
  readonly #cache = new Map<string, StatementSync>();

  constructor(db: DatabaseSync) {
    this.db = db;
  }

  /** Returns the prepared statement of `sql`; rows are arrays. */
  prepare(sql: string): StatementSync {
    let statement = this.#cache.get(sql);
    if (!statement) {
      if (this.#cache.size >= LIMIT) this.#cache.clear();
      statement = this.db.prepare(sql);
      statement.setReturnArrays(true);
      this.#cache.set(sql, statement);
    }
    return statement;
  }

  run(sql: string, ...params: Key[]): number {
    return Number(this.prepare(sql).run(...params).changes);
  }

  row<T extends unknown[]>(sql: string, ...params: Key[]): T | undefined {
    return this.prepare(sql).get(...params) as unknown as T | undefined;
  }

  rows<T extends unknown[]>(sql: string, ...params: Key[]): T[] {
    return this.prepare(sql).all(...params) as unknown as T[];
  }

  iterate<T extends unknown[]>(sql: string, ...params: Key[]): Iterable<T> {
    return this.prepare(sql).iterate(...params) as unknown as Iterable<T>;
  }
}

/** Quotes an SQL identifier. */
export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
