import type { CloudEvent } from "../../../lib/cloudevents/cloudevents.ts";
import { nearest } from "../../../lib/contract/nearest.ts";
import { DEFINED, listReads, type Read } from "../../../lib/filter/names.ts";

/** Depth to which a misplaced key is searched in data. */
const DEPTH = 3;
/** Keys of data that are compared with a misspelled one, and that are searched in one event. */
const MAX_KEYS = 500;
/** Events in which another place of the name is searched. */
const SEARCHED = 20;
const MAX_HINTS = 5;

/** A name that a filter reads and no event has, and the probable one. */
export interface FilterHint {
  text: string;
  read: Read;
}

/** Returns a hint for each name that the filter reads and none of the events, which are of the interest's type, has. */
export function filterHints(filter: string, events: readonly CloudEvent[]): FilterHint[] {
  if (events.length === 0) return [];
  const reads = listReads(filter);
  const optionals = new Set(reads.filter(({ optional }) => optional).map(written));
  const once = new Map(reads.map((read) => [written(read), read]));
  const absent = [...once].filter(
    ([text, read]) => !optionals.has(text) && !events.some((event) => has(event, read)),
  );
  return absent.slice(0, MAX_HINTS).map(([text, read]) => {
    const meant = alternative(read, events);
    const none =
      events.length === 1
        ? "The only event of this type has no"
        : `None of the ${events.length} events of this type has`;
    return { text: `${none} \`${text}\`.${meant ? ` Did you mean \`${meant}\`?` : ""}`, read };
  });
}

const written = ({ of, name }: Read) => (of === "key" ? name : `${of}.${name}`);

function has(event: CloudEvent, { of, name }: Read): boolean {
  if (of === "event") return Object.hasOwn(event, name);
  if (of === "key" && (name === "event" || name === "data")) return true;
  return isObject(event.data) && Object.hasOwn(event.data, name);
}

function alternative({ of, name, field }: Read, events: readonly CloudEvent[]): string | undefined {
  const keys = new Set<string>();
  const attributes = new Set<string>();
  for (const event of events.slice(0, SEARCHED)) {
    const path = pathTo(name, event.data, DEPTH, { left: MAX_KEYS });
    if (path) return `data.${path}`;
    if (isObject(event.data))
      for (const key of Object.keys(event.data)) if (keys.size < MAX_KEYS) keys.add(key);
    for (const attribute of Object.keys(event)) attributes.add(attribute);
  }
  if (of !== "event" && DEFINED.includes(name)) return `event.${name}`;
  const key = nearest(name, [...keys]);
  const attribute = nearest(name, [...attributes]);
  const [first, second] = of === "event" ? [attribute, key] : [key, attribute];
  const best = first?.close ? first : second?.close ? second : undefined;
  if (best) return `${best === key ? "data" : "event"}.${best.name}`;
  return of === "key" && field !== undefined
    ? alternative({ of: "data", name: field, optional: false, position: 0 }, events)
    : undefined;
}

/** Returns the path of a key in data, if it is written with dots. */
function pathTo(name: string, value: unknown, depth: number, keys: { left: number }): string | undefined {
  if (!isObject(value) || depth === 0 || !/^[A-Za-z_]\w*$/.test(name)) return undefined;
  if (Object.hasOwn(value, name)) return name;
  for (const [key, below] of Object.entries(value)) {
    if (keys.left-- <= 0) return undefined;
    const path = /^[A-Za-z_]\w*$/.test(key) ? pathTo(name, below, depth - 1, keys) : undefined;
    if (path) return `${key}.${path}`;
  }
  return undefined;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
