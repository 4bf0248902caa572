import { LruMap } from "../../lib/lru-map.ts";
import type { EntryTable, Reader } from "./entry-table.ts";

/** The rows that a reader may find in an index, with counts. */
export interface View {
  /** 1 for each findable row. */
  visible: Uint8Array;
  documents: number;
  averageLength: number;
  /** Terms whose frequency has been counted. */
  frequencies: Map<string, number>;
}

interface Kept extends View {
  revision: number;
  /** When the first of its entries expires. */
  until: number;
}

const MOST_KEPT = 8;

/** Cached views of the latest readers, valid until an entry changes or expires. */
export class Views {
  readonly #table: EntryTable;
  readonly #kept = new LruMap<string, Kept>(MOST_KEPT);

  constructor(table: EntryTable) {
    this.#table = table;
  }

  of(reader: Reader): View {
    const { access, where, include_superseded, now } = reader;
    const key = JSON.stringify([access, where, include_superseded]);
    const kept = this.#kept.get(key);
    if (kept?.revision === this.#table.revision && now < kept.until) return kept;
    const view = this.#look(reader);
    this.#kept.set(key, view);
    return view;
  }

  #look(reader: Reader): Kept {
    const table = this.#table;
    const visible = table.visible(reader);
    let documents = 0;
    let length = 0;
    let until = Number.POSITIVE_INFINITY;
    for (let row = 0; row < visible.length; row++) {
      if (!visible[row]) continue;
      documents++;
      length += table.lengths[row] as number;
      until = Math.min(until, table.expires[row] as number);
    }
    const averageLength = documents ? Math.max(1, length / documents) : 1;
    return { visible, documents, averageLength, frequencies: new Map(), until, revision: table.revision };
  }
}
