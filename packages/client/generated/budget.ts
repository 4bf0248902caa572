// A copy of lib/text/budget.ts, written by `npm run openapi`.
/** Characters of one text for a model, some 12,000 tokens: its context holds other things too. */
export const MODEL_CHARACTERS = 40_000;

/** Below this, an entry says too little: the first entries get more instead. */
const LEAST_FIELD = 40;
const LEAST_ITEM = { outer: 300, inner: 1000 };

/** A number as a text for people: `1,234,567`. */
export const grouped = (count: number) => count.toLocaleString("en");

/** Returns the part of a text from a character on, without half of a character at either end. */
export function part(text: string, from: number, most: number): string {
  const isHalf = (at: number) => at > 0 && at < text.length && /^[\udc00-\udfff]$/.test(text.charAt(at));
  const start = isHalf(from) ? from + 1 : from;
  return text.slice(start, isHalf(start + most) ? start + most - 1 : start + most);
}

/** Returns a text for a model, or its beginning with what it lacks. @param whole what reads all of it */
export function withinBudget(text: string, whole: string): string {
  if (text.length <= MODEL_CHARACTERS) return text;
  const shown = part(text, 0, MODEL_CHARACTERS);
  return `${shown}\n\nThis is only the beginning: ${grouped(shown.length)} of ${grouped(text.length)} characters. ${whole} reads all of it.`;
}

/**
 * Returns a JSON value of at most about so many characters: long texts end early, of many items and fields the first are
 * kept, and each says what it lacks. A short value stays whole.
 */
export function shorten(value: unknown, most: number): unknown {
  return new Shortening(value).shorten(value, most, LEAST_ITEM.outer);
}

/** Measures each object once. */
class Shortening {
  readonly #sizes = new Map<object, number>();

  constructor(value: unknown) {
    this.#measure(value);
  }

  #measure(value: unknown): number {
    if (!isContainer(value)) return (JSON.stringify(value) ?? "").length;
    let size = 2;
    for (const [key, field] of Object.entries(value))
      size += this.#measure(field) + (Array.isArray(value) ? 1 : JSON.stringify(key).length + 2);
    this.#sizes.set(value, size);
    return size;
  }

  #sizeOf(value: unknown): number {
    return isContainer(value) ? (this.#sizes.get(value) as number) : this.#measure(value);
  }

  shorten(value: unknown, most: number, leastItem: number): unknown {
    const size = this.#sizeOf(value);
    if (size <= most) return value;
    if (typeof value === "string") return shortText(value, most);
    if (!isContainer(value)) return value;
    const isList = Array.isArray(value);
    const entries = Object.entries(value).map(([key, field]): Entry => {
      const name = isList ? 1 : JSON.stringify(key).length + 2;
      return { key, field, name, size: this.#sizeOf(field) + name };
    });
    const room = most - NOTE;
    const first = fitting(entries, room, isList ? leastItem : LEAST_FIELD);
    const each = share(first, room);
    const kept = first.map(({ key, field, name }): [string, unknown] => [
      key,
      this.shorten(field, each - name, isList ? LEAST_ITEM.inner : leastItem),
    ]);
    const missing = entries.length - first.length;
    const note = `… ${grouped(missing)} more of ${grouped(entries.length)}`;
    if (isList) return [...kept.map(([, item]) => item), ...(missing ? [note] : [])];
    return Object.fromEntries([...kept, ...(missing ? [["…", note]] : [])]);
  }
}

interface Entry {
  key: string;
  field: unknown;
  /** Characters of its name. */
  name: number;
  /** Characters with its name. */
  size: number;
}

/** Returns the first entries that have room if each takes its size, or `least` next to its name. */
function fitting(entries: Entry[], room: number, least: number): Entry[] {
  let used = 0;
  const end = entries.findIndex(({ name, size }) => {
    used += Math.min(size, least + name);
    return used > room;
  });
  return end === -1 ? entries : entries.slice(0, end);
}

/** For what an object or a list says of what it lacks. */
const NOTE = 40;

function shortText(text: string, most: number): string {
  const note = `… (${grouped(text.length)} characters)`;
  let kept = part(text, 0, Math.max(0, most - note.length - 2));
  // Escaped characters take more room.
  for (let size = JSON.stringify(kept).length; size > most - note.length && kept; ) {
    kept = part(kept, 0, Math.floor((kept.length * (most - note.length)) / size) - 1);
    size = JSON.stringify(kept).length;
  }
  return kept + note;
}

/** Returns how much each may have, so that the small ones leave their rest to the large ones. */
function share(entries: Entry[], room: number): number {
  let left = room;
  const ascending = entries.toSorted((a, b) => a.size - b.size);
  for (const [at, { size }] of ascending.entries()) {
    const each = left / (ascending.length - at);
    if (size > each) return Math.floor(each);
    left -= size;
  }
  return room;
}

/** Numbers that a double cannot hold are objects too, without fields. */
function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null && !("rawJSON" in value);
}
