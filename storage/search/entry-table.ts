import { MEMORY_SCOPES } from "../../lib/access/visibility.ts";
import { SIGN_ASKS } from "../../lib/text/terms.ts";
import { grown, Names } from "./columns.ts";
import { overlaps, type SearchWhere, spanOf, type wholeEntry } from "./entry.ts";
import { conditionsOf } from "./fits.ts";
import type { LegsQuery } from "./protocol.ts";
import { ThreadOrder } from "./thread-order.ts";

const TEAM = MEMORY_SCOPES.indexOf("team");
const INSTITUTIONAL = MEMORY_SCOPES.indexOf("institutional");

/** The index's data of an entry except its words. */
export interface EntryRow extends Omit<ReturnType<typeof wholeEntry>, "kind" | "removed" | "title" | "text"> {
  /** Result of `signsOf` for its text (lib/text/terms.ts). */
  signs: number;
  /** Terms in title and text. */
  length: number;
}

/** The reader, the filters and the time of a query. */
export type Reader = Pick<LegsQuery, "access" | "where" | "include_superseded" | "now">;

/** The rows that a reader may find in a table, with counts. */
export interface View {
  /** 1 for each findable row. */
  visible: Uint8Array;
  documents: number;
  averageLength: number;
}

/** The entries of one tenant and kind as columns: a row is a number and never reused. */
export class EntryTable {
  /** Number of rows, including dead ones. */
  size = 0;
  readonly threads = new ThreadOrder();
  readonly entries: (EntryRow | null)[] = [];
  lengths = new Float32Array(0);
  #expires = new Float64Array(0);
  #alive = new Uint8Array(0);
  #scopes = new Uint8Array(0);
  #superseded = new Uint8Array(0);
  #agents = new Int32Array(0);
  #teams = new Int32Array(0);
  readonly #names = { agents: new Names(), teams: new Names() };
  readonly #rows = new Map<string, number>();

  /** Number of live rows. */
  get living(): number {
    return this.#rows.size;
  }

  rowOf(id: string): number | undefined {
    return this.#rows.get(id);
  }

  /** Adds an entry, replacing the one with its id, and returns its row. */
  add(entry: EntryRow): number {
    const row = this.size++;
    this.#makeRoom(row + 1);
    this.entries[row] = entry;
    this.lengths[row] = entry.length;
    this.#alive[row] = 1;
    this.#scopes[row] = MEMORY_SCOPES.indexOf(entry.scope);
    this.#superseded[row] = entry.superseded ? 1 : 0;
    this.#agents[row] = this.#names.agents.add(entry.agent_id);
    this.#teams[row] = this.#names.teams.add(entry.team_id);
    this.#expires[row] = entry.expires_at ?? Number.POSITIVE_INFINITY;
    const old = this.#rows.get(entry.id);
    if (old !== undefined) {
      this.threads.remove(old);
      this.#die(old);
    }
    this.threads.add(row, threadKey(entry), entry);
    this.#rows.set(entry.id, row);
    return row;
  }

  /** Removes an entry and returns its row; undefined if there was none. */
  remove(id: string): number | undefined {
    const row = this.#rows.get(id);
    if (row === undefined) return undefined;
    this.#rows.delete(id);
    this.threads.remove(row);
    this.#die(row);
    return row;
  }

  /** Returns the rows that the reader may find, with counts. */
  view(reader: Reader): View {
    const visible = this.visible(reader);
    let documents = 0;
    let length = 0;
    for (let row = 0; row < visible.length; row++) {
      if (!visible[row]) continue;
      documents++;
      length += this.lengths[row] as number;
    }
    return { visible, documents, averageLength: documents ? Math.max(1, length / documents) : 1 };
  }

  /** Returns 1 for each row that the reader may find, of the requested kind and time. */
  visible({ access, where, include_superseded, now }: Reader): Uint8Array {
    const { past } = where;
    const heldThen = (row: number) =>
      past !== undefined && overlaps(spanOf((this.entries[row] as EntryRow).validity), past);
    const agents = this.#names.agents.table(access.agent_ids);
    const teams = this.#names.teams.table(access.team_ids);
    const result = new Uint8Array(this.size);
    for (let row = 0; row < this.size; row++) {
      if (!this.#alive[row] || (this.#expires[row] as number) <= now) continue;
      if (this.#superseded[row] && !include_superseded && !heldThen(row)) continue;
      const scope = this.#scopes[row];
      const readable =
        scope === INSTITUTIONAL ||
        agents[this.#agents[row] as number] === 1 ||
        (scope === TEAM && teams[this.#teams[row] as number] === 1);
      if (readable) result[row] = 1;
    }
    this.#narrow(result, where);
    return result;
  }

  /** Whether an entry may be context for another in its thread, which has the same readers. */
  givesContext(row: number, { include_superseded, now }: Reader): boolean {
    if (!this.#alive[row] || (this.#expires[row] as number) <= now) return false;
    return include_superseded || !this.#superseded[row];
  }

  /** Whether a row's text is a question. */
  asks(row: number): boolean {
    return ((this.entries[row]?.signs ?? 0) & SIGN_ASKS) !== 0;
  }

  isOfOneGroup(a: number, b: number): boolean {
    return (
      this.#alive[a] === 1 &&
      this.#alive[b] === 1 &&
      this.#agents[a] === this.#agents[b] &&
      this.#scopes[a] === this.#scopes[b] &&
      this.#teams[a] === this.#teams[b] &&
      this.entries[a]?.type === this.entries[b]?.type
    );
  }

  #narrow(visible: Uint8Array, where: SearchWhere): void {
    for (const fits of conditionsOf(where))
      for (let row = 0; row < visible.length; row++)
        if (visible[row] && !fits(this.entries[row] as EntryRow)) visible[row] = 0;
  }

  #die(row: number): void {
    this.#alive[row] = 0;
    this.entries[row] = null;
  }

  #makeRoom(size: number): void {
    this.lengths = grown(this.lengths, size);
    this.#alive = grown(this.#alive, size);
    this.#scopes = grown(this.#scopes, size);
    this.#superseded = grown(this.#superseded, size);
    this.#agents = grown(this.#agents, size);
    this.#teams = grown(this.#teams, size);
    this.#expires = grown(this.#expires, size);
  }
}

/** An entry's readers also determine its neighbours: context never reveals an unreadable entry. */
function threadKey({ thread, agent_id, scope, team_id }: EntryRow): string | null {
  return thread === null ? null : JSON.stringify([thread, agent_id, scope, team_id]);
}
