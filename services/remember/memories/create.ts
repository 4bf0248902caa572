import { Type } from "typebox";
import { type Call, callerId, ownerIds, type RequestContext } from "../../../lib/access/caller.ts";
import type { Access } from "../../../lib/access/visibility.ts";
import { invalidValue, isFault, unknownReference } from "../../../lib/contract/faults.ts";
import { compileKeyCheck } from "../../../lib/contract/known-keys.ts";
import { subjectsIn, withSubject } from "../../../lib/contract/subject.ts";
import { compileCheck } from "../../../lib/contract/validator.ts";
import { newUuid } from "../../../lib/ids.ts";
import { refusedRows } from "../../../storage/write-errors.ts";
import { callerAccess, sharingTeam } from "../../identity/agents/find-agent.ts";
import { getMemory, newMemoryFields } from "./memories.contract.ts";
import { type MemoryDoc, present, type StoredCitation } from "./memories.model.ts";
import { type Memories, notActive } from "./memories.ts";
import { type Beginning, type NewMemory, newMemory } from "./new-memory.ts";
import { completeReplacement, requireReplaceable } from "./supersede.ts";

const NewMemoryBody = Type.Object(newMemoryFields);
const checkFields = compileCheck(NewMemoryBody);
const checkKeys = compileKeyCheck(NewMemoryBody, {
  representations: [getMemory.results[200] as object],
  dropsNulls: true,
});

/** Creates a memory; a repetition with the same Idempotency-Key returns the existing one. */
export async function createMemory(memories: Memories, ctx: Call<NewMemory>) {
  return present(await new Creation(memories, ctx).createOne(ctx.params));
}

/** Returns the row of a new memory, checked as for creating it. @throws Fault validation_error, not_found */
export function prepareMemory(memories: Memories, ctx: RequestContext, input: NewMemory): Promise<MemoryDoc> {
  return new Creation(memories, ctx).prepare(input);
}

/** Inserts a row that supersedes nothing, once. */
export async function insertMemory(
  memories: Memories,
  ctx: RequestContext,
  row: MemoryDoc,
): Promise<MemoryDoc> {
  const doc = await memories.rows.insertOnce(row);
  await memories.afterChange(ctx, [doc]);
  return doc;
}

/** Memories of a batch that are created at once. Others are served before the next ones. */
const AT_ONCE = 50;

/** Creates each memory independently; returns in order the memory or the error that refused it. */
export async function createMemories(memories: Memories, ctx: Call<{ memories: unknown[] }>) {
  const inputs = ctx.params.memories;
  const results: unknown[] = [];
  for (let from = 0; from < inputs.length; from += AT_ONCE) {
    const made = await new Creation(memories, ctx).createMany(inputs.slice(from, from + AT_ONCE), from);
    results.push(...made.map(toResult));
  }
  return { results };
}

/** Returns the batch's result for one memory. */
function toResult(made: MemoryDoc | Error) {
  if (!(made instanceof Error)) return { status: 201, memory: present(made) };
  if (!isFault(made)) throw made;
  return { status: made.code, error: { code: made.type, message: made.message, details: made.data ?? {} } };
}

/** Returns an error that refuses one memory of a batch; rethrows others, which fail the request. */
function faultOnly(err: unknown): Error {
  if (isFault(err)) return err;
  throw err;
}

/** A memory's citation of a document, and the subject of the document. */
interface Cited {
  citation: StoredCitation;
  subject: string | null;
}

/** Creates memories of one request. Looks up what they refer to once each. */
class Creation {
  readonly #memories: Memories;
  readonly #ctx: RequestContext;
  readonly #lookUps = new Map<string, Promise<unknown>>();
  #access: Promise<Access> | undefined;
  /** One for all: with their ids it keeps the order of a conversation's messages. */
  readonly #at: Date;

  constructor(memories: Memories, ctx: RequestContext) {
    this.#memories = memories;
    this.#ctx = ctx;
    this.#at = memories.now();
  }

  async createOne(input: NewMemory): Promise<MemoryDoc> {
    const row = await this.prepare(input);
    if (row.supersedes_id !== null) return this.#createSuperseding(row);
    return insertMemory(this.#memories, this.#ctx, row);
  }

  /** @param from position of the first in the request */
  async createMany(inputs: unknown[], from: number): Promise<(MemoryDoc | Error)[]> {
    const rows = await Promise.all(
      inputs.map(async (each, i) => {
        const refused = checkKeys(each) ?? checkFields(each);
        return refused ?? this.prepare(each as NewMemory, from + i).catch(faultOnly);
      }),
    );
    const plain = rows.filter(
      (row): row is MemoryDoc => !(row instanceof Error) && row.supersedes_id === null,
    );
    const made = await this.#insertAll(plain);
    await this.#memories.afterChange(this.#ctx, [...made.values()]);
    const results: (MemoryDoc | Error)[] = [];
    for (const row of rows) {
      if (row instanceof Error) results.push(row);
      else if (row.supersedes_id === null) results.push(made.get(row._id) as MemoryDoc);
      // Sequential: two memories of a request may replace the same one.
      else results.push(await this.#createSuperseding(row).catch(faultOnly));
    }
    return results;
  }

  /** Inserts all rows. Returns them by id; rows that an earlier try wrote are returned in their current state. */
  async #insertAll(rows: MemoryDoc[]): Promise<Map<string, MemoryDoc>> {
    const { tenant_id } = this.#ctx.meta.caller;
    const made = new Map(rows.map((row) => [row._id, row]));
    try {
      await this.#memories.rows.insertMany(rows);
    } catch (err) {
      const ids = refusedRows(err, rows.length).map(({ index }) => (rows[index] as MemoryDoc)._id);
      const there = await this.#memories.rows.find(
        tenant_id,
        { _id: { $in: ids } },
        { bounded: "rows of one request" },
      );
      if (there.length < ids.length) throw err;
      for (const row of there) made.set(row._id, row);
    }
    return made;
  }

  /** Creates a memory that replaces another: written first, in force once the other is superseded. */
  async #createSuperseding(row: MemoryDoc): Promise<MemoryDoc> {
    const doc = await this.#memories.rows.insertOnce(row);
    if (doc.status !== "pending") return doc;
    const made = await completeReplacement(this.#memories, this.#ctx, doc);
    if (made instanceof Error) throw made;
    return made;
  }

  /** @param i position in a batch */
  async prepare({ subject: about, ...body }: NewMemory, i?: number): Promise<MemoryDoc> {
    const input = { ...body, metadata: withSubject(body.metadata, about) };
    const { caller, idempotency_seed } = this.#ctx.meta;
    const { tenant_id } = caller;
    // Before any wait: ids keep the order of the request.
    const _id = newUuid(idempotency_seed, i);
    const [team_id, cited, subject] = await Promise.all([
      this.#teamOf(input),
      this.#cited(input),
      input.source_event_id
        ? this.#lookUp<string | null>("events.subject_of", { tenant_id, id: input.source_event_id })
        : null,
      // That of a single memory is checked with its parameters.
      i !== undefined && input.project_id
        ? this.#lookUp("projects.require", { tenant_id, key: input.project_id })
        : null,
    ]);
    const owner = ownerIds(callerId(caller));
    if (input.supersedes_id) {
      const predecessor = await this.#memories.findReadable(
        this.#ctx,
        input.supersedes_id,
        this.#callerAccess(),
      );
      await requireReplaceable(this.#ctx, predecessor, { ...owner, scope: input.scope, team_id });
      // A memory that an interrupted try of this request replaced is recognised when it is replaced again.
      if (predecessor.doc.status !== "active" && !idempotency_seed) throw notActive(predecessor.doc);
    }
    const source_subjects = [subject, cited?.subject].flatMap((each) => each || []);
    const beginning: Beginning = {
      ...{ _id, tenant_id, ...owner, team_id, at: this.#at },
      subjects: [...new Set([...subjectsIn(input.metadata), ...source_subjects])],
      source_subjects,
      citations: cited ? [cited.citation] : [],
    };
    return newMemory(input, beginning, this.#memories.windowMs);
  }

  /** Returns the team of a new memory. @throws Fault validation_error */
  async #teamOf({ scope, team_id }: NewMemory): Promise<string | null> {
    const { caller } = this.#ctx.meta;
    if (scope === "agent" && caller.kind === "user") {
      throw invalidValue(
        "scope",
        "scope: people cannot create memories with the scope agent. Use team or institutional.",
      );
    }
    const ctx = { meta: this.#ctx.meta, call: this.#lookUp.bind(this) } as RequestContext;
    return sharingTeam(ctx, { scope, team_id }, () => this.#callerAccess());
  }

  /**
   * Returns the citation of the document or chunk that a memory comes from. A `document` may also be another system's.
   * @throws Fault validation_error
   */
  async #cited({ source_type, source_id }: NewMemory): Promise<Cited | null> {
    if ((source_type !== "document_chunk" && source_type !== "document") || !source_id) return null;
    const cited = await this.#lookUp<Cited | null>("documents.cite", { id: source_id.toLowerCase() });
    if (!cited && source_type === "document_chunk")
      throw unknownReference("source_id", "document or chunk", source_id);
    return cited;
  }

  #callerAccess(): Promise<Access> {
    this.#access ??= callerAccess(this.#ctx);
    return this.#access;
  }

  #lookUp<T>(action: string, params: object): Promise<T> {
    const key = `${action} ${JSON.stringify(params)}`;
    const pending = this.#lookUps.get(key) ?? this.#ctx.call(action, params);
    this.#lookUps.set(key, pending);
    return pending as Promise<T>;
  }
}
