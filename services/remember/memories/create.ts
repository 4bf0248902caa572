import { type Call, callerId } from "../../../lib/access/caller.ts";
import type { Access, Scoped } from "../../../lib/access/visibility.ts";
import { invalidValue, isFault, notFound } from "../../../lib/contract/faults.ts";
import { newUuid } from "../../../lib/ids.ts";
import { callerAccess } from "../../../mixins/access.ts";
import { writeInPieces } from "../../../mixins/bulk-writes.ts";
import { refusedRows } from "../../../storage/collection.ts";
import type { MemoryDoc, StoredCitation } from "./memories.model.ts";
import { notActive, type Parts } from "./parts.ts";
import { type Beginning, mayReadById, type NewMemory, newMemory, subjectsIn } from "./rows.ts";
import { requireReplaceable } from "./successor.ts";
import { activate, notReplaced, replace } from "./supersede.ts";

/** A memory's citation of a document chunk, and the subject of the document. */
interface CitedChunk {
  citation: StoredCitation;
  subject: string | null;
}

/** Looks up the references of a request's memories, once each. */
class References {
  readonly #ctx: Call;
  readonly #asked = new Map<string, Promise<unknown>>();
  #access: Promise<Access> | undefined;

  constructor(ctx: Call) {
    this.#ctx = ctx;
  }

  callerAccess(): Promise<Access> {
    this.#access ??= callerAccess(this.#ctx);
    return this.#access;
  }

  /** @throws Fault validation_error if the tenant has no such project. */
  project(key: string): Promise<unknown> {
    return this.#once("projects.require", { tenant_id: this.#ctx.meta.caller.tenant_id, key });
  }

  /** Whether the tenant has this team. */
  async team(team_id: string): Promise<boolean> {
    const { tenant_id } = this.#ctx.meta.caller;
    return (await this.#once("teams.name_of", { tenant_id, team_id })) !== null;
  }

  chunk(chunk_id: string): Promise<CitedChunk | null> {
    return this.#once("documents.cite_chunk", { chunk_id });
  }

  /** Returns the subject of a memory's source event, while the event exists. */
  async subject(event_id: string): Promise<string[]> {
    const { tenant_id } = this.#ctx.meta.caller;
    const subject = await this.#once<string | null>("events.subject_of", { tenant_id, id: event_id });
    return subject ? [subject] : [];
  }

  #once<T>(action: string, params: object): Promise<T> {
    const key = `${action} ${JSON.stringify(params)}`;
    const asked = this.#asked.get(key) ?? this.#ctx.call(action, params);
    this.#asked.set(key, asked);
    return asked as Promise<T>;
  }
}

type Key = Pick<Beginning, "_id" | "at">;

/** Creates a memory; a repetition with the same seed returns the existing one. */
export async function createOne(parts: Parts, ctx: Call, given: NewMemory): Promise<MemoryDoc> {
  const key = { _id: newUuid(ctx.meta.idempotency_seed), at: parts.now() };
  const row = await prepare(parts, ctx, given, new References(ctx), key);
  if (row.supersedes_id !== null) return createSuperseding(parts, ctx, row);
  const doc = await parts.memories.insertOnce(row);
  await parts.changes.after(ctx, [doc]);
  return doc;
}

/** Creates each memory independently; returns in order the memory or the error that refused it. */
export async function createMany(parts: Parts, ctx: Call, given: (NewMemory | Error)[]) {
  const references = new References(ctx);
  // One timestamp for all, with ids in the given order: keeps the order of a conversation's messages.
  const at = parts.now();
  const keys = given.map((_, i) => ({ _id: newUuid(ctx.meta.idempotency_seed, i), at }));
  const rows = await Promise.all(
    given.map((each, i) =>
      each instanceof Error ? each : prepare(parts, ctx, each, references, keys[i] as Key).catch(faultOnly),
    ),
  );
  const plain = rows.filter((row): row is MemoryDoc => !(row instanceof Error) && row.supersedes_id === null);
  const made = await insertAll(parts, ctx, plain);
  await parts.changes.after(ctx, [...made.values()]);
  const results: (MemoryDoc | Error)[] = [];
  for (const row of rows) {
    if (row instanceof Error) results.push(row);
    else if (row.supersedes_id === null) results.push(made.get(row._id) as MemoryDoc);
    // Sequential: two memories of a request may replace the same one.
    else results.push(await createSuperseding(parts, ctx, row).catch(faultOnly));
  }
  return results;
}

/** Returns an error that refuses one memory of a batch; rethrows others, which fail the request. */
function faultOnly(err: unknown): Error {
  if (isFault(err)) return err;
  throw err;
}

/** Inserts all rows. Returns them by id; rows that an earlier try wrote are returned in their current state. */
async function insertAll(
  { memories }: Parts,
  { meta: { caller } }: Call,
  rows: MemoryDoc[],
): Promise<Map<string, MemoryDoc>> {
  const { tenant_id } = caller;
  const made = new Map(rows.map((row) => [row._id, row]));
  await writeInPieces({ tenant_id, caller: callerId(caller) }, rows, async (piece) => {
    try {
      await memories.insertMany(piece);
    } catch (err) {
      const ids = refusedRows(err, piece.length).map(({ index }) => (piece[index] as MemoryDoc)._id);
      const there = await memories.find(tenant_id, { _id: { $in: ids } });
      if (there.length < ids.length) throw err;
      for (const row of there) made.set(row._id, row);
    }
  });
  return made;
}

async function prepare(
  parts: Parts,
  ctx: Call,
  given: NewMemory,
  references: References,
  key: Key,
): Promise<MemoryDoc> {
  const { caller } = ctx.meta;
  const [team_id, chunk, subject] = await Promise.all([
    teamOf(ctx, given, references),
    chunkOf(given, references),
    given.source_event_id ? references.subject(given.source_event_id) : [],
    given.project_id ? references.project(given.project_id) : null,
  ]);
  const owner = {
    agent_id: caller.kind === "agent" ? caller.agent_id : null,
    user_id: caller.kind === "user" ? caller.user_id : null,
  };
  if (given.supersedes_id) {
    const successor = { ...owner, scope: given.scope, team_id };
    await checkReplaced(parts, ctx, given.supersedes_id, successor, references);
  }
  const source_subjects = [...subject, ...(chunk?.subject ? [chunk.subject] : [])];
  const beginning: Beginning = {
    ...key,
    ...owner,
    tenant_id: caller.tenant_id,
    team_id,
    subjects: [...new Set([...subjectsIn(given.metadata), ...source_subjects])],
    source_subjects,
    citations: chunk ? [chunk.citation] : [],
  };
  return newMemory(given, beginning, parts.windowMs);
}

/** Returns the team of a new memory. @throws Fault validation_error */
async function teamOf(
  { meta: { caller } }: Call,
  given: NewMemory,
  references: References,
): Promise<string | null> {
  const { scope, team_id } = given;
  if (scope === "agent" && caller.kind === "user") {
    throw invalidValue(
      "scope",
      "The scope agent is for agents: a person remembers for a team or the institution.",
    );
  }
  if (scope !== "team") {
    if (team_id) throw invalidValue("team_id", `team_id goes with the scope team, not with ${scope}.`);
    return null;
  }
  const own = caller.kind === "agent" ? caller.team_id : null;
  const wanted = team_id ?? own;
  if (!wanted)
    throw invalidValue("team_id", "The scope team needs a team_id: the caller has no team of its own.");
  const known = caller.kind === "agent" ? await references.team(wanted) : await isTeamOf(references, wanted);
  if (wanted !== own && !known) throw invalidValue("team_id", `There is no team ${wanted} to remember for.`);
  return wanted;
}

async function isTeamOf(references: References, team_id: string): Promise<boolean> {
  return (await references.callerAccess()).team_ids.includes(team_id);
}

/** Returns the citation of the document chunk that a memory comes from. @throws Fault validation_error */
async function chunkOf(
  { source_type, source_id }: NewMemory,
  references: References,
): Promise<CitedChunk | null> {
  if (source_type !== "document_chunk" || !source_id) return null;
  const chunk = await references.chunk(source_id);
  if (!chunk) throw invalidValue("source_id", `There is no document chunk ${source_id}.`);
  return chunk;
}

/** @throws Fault not_found, forbidden, business_rule_violation, conflict */
async function checkReplaced(
  parts: Parts,
  ctx: Call,
  id: string,
  successor: Scoped,
  references: References,
): Promise<void> {
  const { caller } = ctx.meta;
  const [access, doc] = await Promise.all([
    references.callerAccess(),
    parts.memories.findOne(caller.tenant_id, { _id: id }),
  ]);
  if (!doc || !mayReadById(caller, access, doc, parts.now().getTime())) throw notFound("memory", id);
  await requireReplaceable(ctx, { doc, access }, successor);
  // A memory that an interrupted try of this request replaced is recognised below.
  if (doc.status !== "active" && !ctx.meta.idempotency_seed) throw notActive(doc);
}

/** Creates a memory that replaces another: written first, in force once the other is superseded. */
async function createSuperseding(parts: Parts, ctx: Call, row: MemoryDoc): Promise<MemoryDoc> {
  const doc = await parts.memories.insertOnce(row);
  if (doc.status !== "pending") return doc;
  const replaced = await replace(parts, doc, doc.supersedes_id as string);
  if ("refused" in replaced) {
    await parts.memories.delete(doc.tenant_id, { _id: doc._id, status: "pending" });
    throw replaced.refused
      ? notReplaced(replaced.refused, doc)
      : notFound("memory", doc.supersedes_id as string);
  }
  const active = await activate(parts, doc);
  await parts.changes.after(ctx, [active, replaced.doc]);
  await parts.changes.recordSuperseding(ctx, replaced.doc);
  return active;
}
