import { exactDigits, parseExact, stringifyExact } from "../lib/json/json.ts";
import { Slices } from "../lib/queue/slices.ts";
import { ERASED, toNames, writings } from "../lib/text/subject.ts";
import { type Blobs, writingBlobs } from "./blobs/blobs.ts";
import { TenantCollection, type TenantDocument } from "./collection.ts";
import { hasErased, putErased } from "./erase-blob.ts";
import { type AnyModel, type DeclaredField, fieldsOf, type Replaced } from "./model.ts";
import type { Update, Where } from "./query.ts";
import { nullIfTaken } from "./write-errors.ts";

const PAGE = 1000;
const ATTEMPTS = 5;
/** Rows are searched no longer at once. */
const SLICE_MS = 10;

/** Texts to erase: those of an agent, and those that name a person or mention one of these ids. */
export interface Erased {
  tenant_id: string;
  agent_id?: string | undefined;
  /** Whether the agent's works are erased too. */
  works?: boolean;
  subject?: string | undefined;
  ids?: readonly string[] | undefined;
  dry_run?: boolean;
}

interface Deps {
  /** Returns those of some events that are about the subject. */
  aboutSubject: (event_ids: string[]) => Promise<string[]>;
  blobs: Blobs;
  now: () => Date;
}

type Row = TenantDocument & Record<string, unknown>;
type IsErased = (text: string) => boolean;
type Replacing = Pick<AnyModel, "schema" | "blobs" | "erased"> & { erasure: Replaced };

/**
 * Replaces the texts of a tenant's rows that are erased, and returns how many rows have, or had, such. Which fields are texts
 * follows from the model. Reads all rows that have any, in pages: erasures are rare, and an index would cost every write.
 */
export async function replaceTexts(
  native: unknown,
  model: Replacing,
  { tenant_id, agent_id, works = false, subject, ids, dry_run }: Erased,
  { aboutSubject, blobs, now }: Deps,
): Promise<number> {
  const rows = new TenantCollection<Row>(native as never);
  const { of, by = {}, within, version, size } = model.erasure.replaced;
  const fields = fieldsOf(model.schema).filter(({ content }) => content);
  const roots = [...new Set(fields.map(({ path }) => rootOf(path)))];
  // Not by ids: one in a work stands for what is gone.
  const blob = (subject === undefined && !works) || size === undefined ? undefined : model.blobs?.[0];
  const names = namesOf({ ids, subject });
  const subjects = new Set(subject === undefined ? [] : writings(subject));
  const held = [...roots, ...(blob ? [blob] : [])].map((root) => ({ [root]: { $exists: true } }));
  const named = [...of, ...Object.keys(by), ...(blob ? [blob] : []), "event_id", "tenant_id"].map(rootOf);
  const projection = Object.fromEntries([...roots, ...named].map((name) => [name, 1]));
  const slices = new Slices(SLICE_MS);
  const inForm = new Map<unknown, IsErased>([[undefined, names]]);
  for (const { form } of fields)
    if (form) inForm.set(form, namesOf({ ids, subject: subject && (form(subject) || subject) }));

  const isIts = (row: Row, path: string) => works && valuesAt(row, path.split(".")).includes(agent_id);
  /** Which fields of a row are the agent's work. */
  const worksIn = (row: Row) => Object.entries(by).flatMap(([path, own]) => (isIts(row, path) ? own : []));

  async function replacedIn(page: readonly Row[]): Promise<(row: Row) => Record<string, unknown>> {
    const event_ids = subject === undefined ? [] : [...new Set(JSON.stringify(page).match(EVENT_ID) ?? [])];
    const known = new Set(event_ids.length ? await aboutSubject(event_ids) : []);
    if (agent_id !== undefined) known.add(agent_id);
    return (row) => {
      const isWhole = [...of, "event_id"].some((path) =>
        valuesAt(row, path.split(".")).some((id) => known.has(id as string)),
      );
      const own = worksIn(row);
      const changed = roots.map((root) => {
        const isWork = own.includes("all") || own.includes(root);
        const inRoot = fields.filter(({ path }) => rootOf(path) === root);
        const replace = (value: unknown, each: DeclaredField) => {
          const names = inForm.get(each.form) as IsErased;
          const isErased = isWhole || isWork ? () => true : names;
          return replaceAt(value, each, { row, known, subjects, names, isErased });
        };
        return [root, inRoot.reduce(replace, row[root])];
      });
      const texts = Object.fromEntries(changed.filter(([root, value]) => value !== row[root as string]));
      const after = { ...texts, ...model.erased?.({ ...row, ...texts } as never, now()) };
      return Object.keys(texts).some((root) => after[root] !== row[root]) ? texts : {};
    };
  }

  /** Which lines of a row's blob are erased; of one that is erased already none. */
  const linesOf = (row: Row): IsErased =>
    worksIn(row).includes("all") ? (line) => !["", ERASED, row._id].includes(line.trim()) : names;

  const isBlobErased = async (row: Row): Promise<boolean> => {
    const hash = blob && row[blob];
    return typeof hash === "string" && hasErased(blobs, { tenant_id, hash }, linesOf(row));
  };

  /** Only what was read is replaced: a row that was changed meanwhile is read again. */
  async function replace(_id: string): Promise<void> {
    let mark: string | undefined;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const done = await writingBlobs(blobs, tenant_id, async (write) => {
        const row = await rows.findOne(tenant_id, { _id } as Where<Row>);
        const texts = row ? (await replacedIn([row]))(row) : {};
        if (row && (await isBlobErased(row))) {
          const ref = await putErased(blobs, write, row[blob as string] as string, linesOf(row), mark);
          Object.assign(texts, { [blob as string]: ref.hash, [size as string]: ref.size });
        }
        if (!row || Object.keys(texts).length === 0) return true;
        const $set = { ...texts, ...model.erased?.({ ...row, ...texts } as never, now()) };
        const guards = version === undefined ? Object.keys(texts) : [version];
        const guard = Object.fromEntries(guards.map((name) => [name, row[name]]));
        const update = { $set, ...(version !== undefined && { $inc: { [version]: 1 } }) };
        return rows.update(tenant_id, { _id, ...guard } as Where<Row>, update as Update<Row>).catch((err) => {
          // Another row has the same text now.
          mark = _id;
          return nullIfTaken(err);
        });
      });
      if (done) return;
    }
    throw new Error(`the texts of ${_id} were changed all the time`);
  }

  async function replaceAll(filter: object): Promise<number> {
    let count = 0;
    const where = { ...filter, $or: held } as Where<Row>;
    for await (const page of rows.batches(tenant_id, where, { limit: PAGE, projection })) {
      const replaced = await replacedIn(page);
      for (const row of page) {
        if (slices.over) await slices.next();
        if (Object.keys(replaced(row)).length === 0 && !(await isBlobErased(row))) continue;
        if (!dry_run) await replace(row._id);
        count++;
      }
    }
    return count;
  }

  const count = await replaceAll(within ?? {});
  if (within === undefined || subject === undefined) return count;
  const others = Object.entries(within).map(([name, value]) => ({ [name]: { $ne: value } }));
  return count + (await replaceAll({ $and: [{ $or: others }] }));
}

/** Returns whether a text names what is erased. A mere id does not: it stands for what is gone. */
function namesOf(erased: { ids: readonly string[] | undefined; subject: string | undefined }): IsErased {
  const [names, ids] = [toNames(erased), new Set(erased.ids)];
  return (text) => !ids.has(text) && names(text);
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
  subjects: ReadonlySet<string>;
  /** Whether a text names what is erased; `isErased` is true of further ones. */
  names: IsErased;
  isErased: IsErased;
}

/** Returns a value with the texts of a field replaced; the same value without any. */
function replaceAt(value: unknown, { path, content, json, kept }: DeclaredField, within: Within): unknown {
  const [, ...rest] = path.split(".");
  const under = content === true ? [] : (content as readonly string[]);
  if (!json) return content === true ? replaceIn(value, rest, within) : replaceUnder(value, under, within);
  if (typeof value !== "string" || !mayHave(value, under, within)) return value;
  const parsed: unknown = parseExact(value);
  const named = replaceUnder(parsed, under, within);
  const changed = content === true || kept ? replaceFree(named, within, kept) : named;
  return changed === parsed ? value : stringifyExact(changed);
}

/** Whether JSON is to be parsed: most rows name nothing that is erased. */
function mayHave(text: string, names: readonly string[], { subjects, isErased }: Within): boolean {
  const isPlain = ![...subjects].some((subject) => /[\\\p{Cc}]/u.test(subject));
  return (
    !isPlain || isErased(text) || /_base64"/.test(text) || names.some((name) => text.includes(`"${name}"`))
  );
}

/** Replaces all texts of JSON of callers; with the person's name, all of the object that has it as a value. */
function replaceFree(value: unknown, within: Within, kept: readonly string[] = []): unknown {
  if (typeof value === "string") return replaced(value, within);
  if (isSubject(value, within)) return ERASED;
  if (typeof value !== "object" || value === null || exactDigits(value) !== null) return value;
  if (Array.isArray(value)) return mapValues(value, (each) => replaceFree(each, within));
  const isAbout = Object.values(value)
    .flat()
    .some((each) => isSubject(each, within));
  const inside = isAbout ? { ...within, isErased: () => true } : within;
  const changed = mapValues(value, (each, key) => {
    if (kept.includes(key)) return each;
    return key.endsWith("_base64") ? replaceEncoded(each, inside) : replaceFree(each, inside);
  });
  const isNamed = (key: string) => !kept.includes(key) && within.names(key);
  if (!Object.keys(value).some(isNamed)) return changed;
  const entries = Object.entries(changed as object);
  return Object.fromEntries(entries.map(([key, each]) => [isNamed(key) ? ERASED : key, each]));
}

function isSubject(value: unknown, { subjects }: Within): boolean {
  const isText = typeof value === "string" || typeof value === "number" || exactDigits(value) !== null;
  return isText && subjects.has(exactDigits(value) ?? String(value));
}

function replaceEncoded(value: unknown, within: Within): unknown {
  if (typeof value !== "string") return replaceFree(value, within);
  const text = Buffer.from(value, "base64").toString();
  const changed = replaced(text, within);
  return changed === text ? value : Buffer.from(changed).toString("base64");
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
function replaceUnder(value: unknown, names: readonly string[], options: Within): unknown {
  const within = of(value, options);
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
