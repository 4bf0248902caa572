import { toNames } from "../lib/text/subject.ts";
import { TenantCollection, type TenantDocument } from "./collection.ts";
import { type AnyModel, type DeclaredField, fieldsOf, type Replaced } from "./model.ts";
import type { Update, Where } from "./query.ts";

/** Stands for a text that was erased. */
export const ERASED = "[erased]";
const PAGE = 1000;
const ATTEMPTS = 5;

/** What is erased: the texts of an agent, and those that name a person or mention one of these ids. */
export interface Erased {
  tenant_id: string;
  agent_id?: string | undefined;
  subject?: string | undefined;
  ids?: readonly string[] | undefined;
  dry_run?: boolean;
}

/** Returns those of some events that are about the subject. */
type AboutSubject = (event_ids: string[]) => Promise<string[]>;

type Row = TenantDocument & Record<string, unknown>;
type IsErased = (text: string) => boolean;

/**
 * Replaces the texts of a tenant's rows that are erased, and returns how many rows have, or had, such. Which fields are texts
 * follows from the model. Reads all rows that have any, in pages: erasures are rare, and an index would cost every write.
 */
export async function replaceTexts(
  native: unknown,
  model: Pick<AnyModel, "schema"> & { erasure: Replaced },
  { tenant_id, agent_id, subject, ids, dry_run }: Erased,
  aboutSubject: AboutSubject,
): Promise<number> {
  const rows = new TenantCollection<Row>(native as never);
  const { of, within = {}, version } = model.erasure.replaced;
  const fields = fieldsOf(model.schema).filter(({ content }) => content);
  const roots = [...new Set(fields.map(({ path }) => rootOf(path)))];
  const names = toNames({ ids, subject });
  const held = roots.map((root) => ({ [root]: { $exists: true } }));
  const projection = Object.fromEntries(
    [...new Set([...roots, ...of.map(rootOf), "event_id", "tenant_id"])].map((name) => [name, 1]),
  );
  const options = { sort: { _id: 1 } as const, limit: PAGE, projection };

  async function replacedIn(page: readonly Row[]): Promise<(row: Row) => Record<string, unknown>> {
    const event_ids = subject === undefined ? [] : [...new Set(JSON.stringify(page).match(EVENT_ID) ?? [])];
    const known = new Set(event_ids.length ? await aboutSubject(event_ids) : []);
    if (agent_id !== undefined) known.add(agent_id);
    return (row) => {
      const isWhole = [...of, "event_id"].some((path) =>
        valuesAt(row, path.split(".")).some((id) => known.has(id as string)),
      );
      const isErased = isWhole ? () => true : names;
      const changed = roots.map((root) => {
        const own = fields.filter(({ path }) => rootOf(path) === root);
        return [
          root,
          own.reduce((value, each) => replaceAt(value, each, { row, known, isErased }), row[root]),
        ];
      });
      return Object.fromEntries(changed.filter(([root, value]) => value !== row[root as string]));
    };
  }

  /** Only what was read is replaced: a row that was changed meanwhile is read again. */
  async function replace(_id: string): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const row = await rows.findOne(tenant_id, { _id } as Where<Row>);
      const $set = row ? (await replacedIn([row]))(row) : {};
      if (!row || Object.keys($set).length === 0) return;
      const guards = version === undefined ? Object.keys($set) : [version];
      const guard = Object.fromEntries(guards.map((name) => [name, row[name]]));
      const update = { $set, ...(version !== undefined && { $inc: { [version]: 1 } }) };
      if (await rows.update(tenant_id, { _id, ...guard } as Where<Row>, update as Update<Row>)) return;
    }
    throw new Error(`the texts of ${_id} were changed all the time`);
  }

  let count = 0;
  for (let after = ""; ; ) {
    const further = { ...within, _id: { $gt: after }, $or: held } as Where<Row>;
    const { rows: page, more } = await rows.findWithin(tenant_id, further, options);
    const replaced = await replacedIn(page);
    const found = page.filter((row) => Object.keys(replaced(row)).length > 0);
    if (!dry_run) for (const { _id } of found) await replace(_id);
    count += found.length;
    if (!more && page.length < PAGE) return count;
    after = (page.at(-1) as Row)._id;
  }
}

const rootOf = (path: string) => path.split(".")[0] as string;

function valuesAt(value: unknown, [name, ...rest]: readonly string[]): unknown[] {
  if (Array.isArray(value)) return value.flatMap((each) => valuesAt(each, [name as string, ...rest]));
  const held = (value as Record<string, unknown> | null)?.[name as string];
  return rest.length ? valuesAt(held, rest) : [held];
}

const EVENT_ID = /\bevt_[\w-]+/g;

interface Within {
  row: Row;
  known: ReadonlySet<string>;
  isErased: IsErased;
}

/** Returns a value with the texts of a field replaced; the same value without any. */
function replaceAt(value: unknown, { path, content }: DeclaredField, within: Within): unknown {
  const [, ...rest] = path.split(".");
  if (content === true) {
    const changed = replaceIn(value, rest, within);
    return changed !== value && path.endsWith("_json") ? JSON.stringify(changed) : changed;
  }
  // JSON with texts under some names.
  if (typeof value === "string") {
    const parsed: unknown = JSON.parse(value);
    const replaced = replaceUnder(parsed, content as string[], within);
    return replaced === parsed ? value : JSON.stringify(replaced);
  }
  return replaceUnder(value, content as string[], within);
}

/** Replaces all texts of a value, or those of the field of a path in it. */
function replaceIn(value: unknown, path: readonly string[], within: Within): unknown {
  const [name, ...rest] = path;
  if (typeof value === "string") return name === undefined ? replaced(value, within) : value;
  return mapValues(value, (each, key) => {
    if (Array.isArray(value)) return replaceIn(each, path, of(each, within));
    if (name === undefined) return replaceIn(each, path, within);
    return key === name ? replaceIn(each, rest, within) : each;
  });
}

/** Replaces all texts under some names, however deep. */
function replaceUnder(value: unknown, names: readonly string[], given: Within): unknown {
  const within = of(value, given);
  return mapValues(value, (each, key) =>
    names.includes(key) ? replaceIn(each, [], within) : replaceUnder(each, names, within),
  );
}

/** All texts of an object are erased with the agent or the event that it names. */
function of(value: unknown, within: Within): Within {
  if (typeof value !== "object" || value === null) return within;
  const ids = Object.values(value).map((each) => each?.actor_id ?? each);
  return ids.some((id) => within.known.has(id)) ? { ...within, isErased: () => true } : within;
}

function mapValues(value: unknown, change: (each: unknown, key: string) => unknown): unknown {
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, change(each, key)] as const);
  if (entries.every(([key, each]) => each === (value as Record<string, unknown>)[key])) return value;
  return Array.isArray(value) ? entries.map(([, each]) => each) : Object.fromEntries(entries);
}

/** The key of a text begins with its tenant, or with a time: it stays where it is in its order. */
const TIMED = /^\d{4}-\d\d-\d\dT[\d:.]+Z /;

function replaced(text: string, { row, isErased }: Within): string {
  const key = text.startsWith(`${row.tenant_id} `) ? `${row.tenant_id} ` : (TIMED.exec(text)?.[0] ?? "");
  return text === "" || text === `${key}${ERASED}` || !isErased(text) ? text : `${key}${ERASED}`;
}
