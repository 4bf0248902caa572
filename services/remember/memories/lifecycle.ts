import {
  type Call,
  type Caller,
  callerId,
  ownerIds,
  type RequestContext,
} from "../../../lib/access/caller.ts";
import { MEMORY_SCOPES } from "../../../lib/access/visibility.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { type Fault, invalidValue, ruleBroken, unknownReference } from "../../../lib/contract/faults.ts";
import { metadataText } from "../../../lib/contract/metadata.ts";
import { subjectsIn, withSubject } from "../../../lib/contract/subject.ts";
import { canonicalTags } from "../../../lib/contract/tags.ts";
import type { Update } from "../../../storage/query.ts";
import { guardedWrite } from "../../../storage/writes.ts";
import type { CallOf } from "../../runtime.ts";
import { endPredecessors } from "./announce.ts";
import type { promoteMemory } from "./lifecycle.contract.ts";
import type { updateMemory } from "./memories.contract.ts";
import type { MemoryDoc } from "./memories.model.ts";
import { type Memories, makeChange, notActive } from "./memories.ts";
import { parseDate, purgeAt } from "./new-memory.ts";
import { corrected, presentValidity, timesOf, validityOf } from "./validity.ts";

/**
 * Returns the update of a memory in its current state; null if nothing changes. May throw the fault that refuses it.
 */
type Decide = (doc: MemoryDoc) => Update<MemoryDoc> | null;

/** Changes a memory that the caller manages, guarded by the version that the decision was based on. */
function change(memories: Memories, ctx: RequestContext, id: string, decide: Decide): Promise<MemoryDoc> {
  const attempt = async () => {
    const doc = await memories.findManaged(ctx, id);
    const update = decide(doc);
    if (!update) return doc;
    const { tenant_id, version, status } = doc;
    const changed = await memories.rows.update(tenant_id, { _id: id, version, status }, update);
    if (!changed) return null;
    const isMoved = validityOf(changed).from.getTime() !== validityOf(doc).from.getTime();
    const ended = isMoved ? await endPredecessors(memories, [changed]) : [];
    await memories.afterChange(ctx, [changed, ...ended]);
    return changed;
  };
  return guardedWrite(attempt, "The memory is being changed concurrently. Retry.", id);
}

async function changeAndShow(memories: Memories, ctx: RequestContext, id: string, decide: Decide) {
  return memories.presentOne(ctx, await change(memories, ctx, id, decide));
}

/** @throws Fault validation_error, not_found, forbidden, conflict */
export async function update(memories: Memories, ctx: CallOf<typeof updateMemory>) {
  const { id, ...given } = ctx.params;
  await memories.findManaged(ctx, id);
  return changeAndShow(memories, ctx, id, (doc) => {
    if (doc.status !== "active") throw notActive(doc);
    const at = memories.now();
    const $set = { ...settingsOf(given, doc), ...correctedTimes(given, doc, ctx.meta.caller, at) };
    if (Object.keys($set).length === 0) return null;
    const updated = makeChange("updated", at, $set);
    if ($set.expires_at === undefined) return updated;
    return withPurge(updated, purgeAt($set.expires_at, at, memories.windowMs));
  });
}

/** The fields that a memory under a key gets when it is put again: all but its scope, owner and history. */
const REPLACED = [
  ...["type", "title", "content", "confidence", "importance", "metadata", "project_id", "tags"],
  ...["source_type", "source_id", "source_url", "source_event_id", "freshness_date", "expires_at"],
  ...["valid_from", "valid_from_given", "valid_until"],
  ...["subjects", "source_subjects", "citations"],
] as const satisfies (keyof MemoryDoc)[];

/** Replaces the fields of the caller's active memory by those of a new row. @throws Fault not_found, conflict */
export function replace(memories: Memories, ctx: RequestContext, { _id }: MemoryDoc, row: MemoryDoc) {
  return change(memories, ctx, _id, (doc) => {
    if (doc.status !== "active") throw notActive(doc);
    const at = memories.now();
    const fields = Object.fromEntries(REPLACED.map((name) => [name, row[name]]));
    return withPurge(makeChange("updated", at, fields), purgeAt(row.expires_at, at, memories.windowMs));
  });
}

type ChangedFields = Omit<ParamsOf<typeof updateMemory>, "id">;

/** Fields stored as given. */
const PLAIN = ["title", "content", "confidence", "importance"] as const;

function settingsOf(changes: ChangedFields, doc: MemoryDoc): Partial<MemoryDoc> {
  const { project_id, tags, expires_at, freshness_date } = changes;
  const metadata = metadataAfter(changes, doc);
  const plain = PLAIN.filter((field) => changes[field] !== undefined);
  return {
    ...Object.fromEntries(plain.map((field) => [field, changes[field]])),
    ...(project_id !== undefined && { project_id: project_id || null }),
    ...(tags !== undefined && { tags: canonicalTags(tags ?? []) }),
    ...(metadata !== undefined && { metadata: metadataText(metadata), subjects: subjectsOf(doc, metadata) }),
    ...(expires_at !== undefined && { expires_at: parseDate(expires_at) }),
    ...(freshness_date !== undefined && { freshness_date: parseDate(freshness_date) }),
  };
}

/** Returns the times of a memory if they change, with what they were before. @throws Fault validation_failed */
function correctedTimes(changes: ChangedFields, doc: MemoryDoc, by: Caller, at: Date): Partial<MemoryDoc> {
  const freshness_date =
    changes.freshness_date === undefined ? doc.freshness_date : parseDate(changes.freshness_date);
  const times = timesOf(changes, { ...doc, freshness_date });
  const [before, after] = [doc, { ...doc, ...times, freshness_date }].map(presentValidity);
  if (JSON.stringify(before) === JSON.stringify(after)) return {};
  const who = { ...ownerIds(callerId(by)), reason: changes.reason ?? null };
  return { ...times, ...corrected(doc, who, at) };
}

/** Returns the new metadata, undefined if it stays; a subject alone replaces the one there. */
function metadataAfter({ metadata, subject }: ChangedFields, doc: MemoryDoc): ChangedFields["metadata"] {
  if (metadata !== undefined || subject === undefined) return withSubject(metadata, subject);
  const { subject: _, ...others } = JSON.parse(doc.metadata);
  return withSubject(others, subject);
}

/** Returns the subjects after an update of metadata: replaces those of the old metadata, keeps those of its sources. */
function subjectsOf(
  { metadata, subjects, source_subjects = [] }: MemoryDoc,
  changed: ChangedFields["metadata"],
) {
  const old = subjectsIn(JSON.parse(metadata));
  const kept = subjects.filter((each) => !old.includes(each));
  return [...new Set([...subjectsIn(changed), ...source_subjects, ...kept])];
}

/** @throws Fault validation_error, business_rule_violation, not_found, forbidden, conflict */
export async function promote(memories: Memories, ctx: CallOf<typeof promoteMemory>) {
  const { id, scope } = ctx.params;
  const { tenant_id } = ctx.meta.caller;
  const team_id = ctx.params.team_id ?? null;
  await memories.findManaged(ctx, id);
  if (scope === "team" && !team_id) throw invalidValue("team_id", "team_id is required with the scope team.");
  if (scope !== "team" && team_id) {
    throw invalidValue("team_id", `team_id: allowed only with the scope team, got scope ${scope}.`);
  }
  if (team_id && (await ctx.call("teams.name_of", { tenant_id, team_id })) === null) {
    throw unknownReference("team_id", "team", team_id);
  }
  return changeAndShow(memories, ctx, id, (doc) => {
    if (doc.status !== "active") throw notActive(doc);
    // The narrowest scope is never the target of a promotion.
    if (doc.scope === scope && doc.team_id === team_id && scope !== "agent") return null;
    if (MEMORY_SCOPES.indexOf(scope) <= MEMORY_SCOPES.indexOf(doc.scope)) throw narrows(doc, scope);
    const at = memories.now();
    const finding = {
      finding_due_at: at,
      finding_origin: "promoted",
      finding_from_scope: doc.scope,
    } as const;
    return makeChange("promoted", at, { scope, team_id, ...(scope === "institutional" && finding) });
  });
}

function narrows({ scope, team_id }: MemoryDoc, wanted: string): Fault {
  const from = team_id ? `${scope} (${team_id})` : scope;
  return ruleBroken(
    "scope_only_widens",
    `The scope of a memory can only be widened: ${from} to ${wanted} is not allowed. Expected a wider scope.`,
  );
}

/** @throws Fault not_found, forbidden */
export async function forget(memories: Memories, ctx: RequestContext, id: string) {
  const { _id, invalid_at } = await change(memories, ctx, id, (doc) => {
    if (doc.status === "forgotten" || doc.status === "pending") return null;
    const at = memories.now();
    return makeChange("forgotten", at, {
      status: "forgotten",
      forgotten_from: doc.status,
      // A superseded memory keeps the time at which it was superseded.
      invalid_at: doc.invalid_at ?? at,
      purge_at: new Date(at.getTime() + memories.windowMs),
    });
  });
  return { memory_id: _id, forgotten: true, invalid_at: (invalid_at as Date).toISOString() };
}

/** Restores the previous status: a superseded memory stays superseded. @throws Fault not_found, forbidden, conflict */
export function restore(memories: Memories, ctx: Call<{ id: string }>) {
  return changeAndShow(memories, ctx, ctx.params.id, (doc) => {
    if (doc.status === "active") return null;
    if (doc.status !== "forgotten") throw notActive(doc);
    const status = doc.forgotten_from ?? "active";
    const invalid_at = status === "active" ? null : doc.invalid_at;
    const at = memories.now();
    const restored = { ...makeChange("restored", at, { status, invalid_at }), $unset: { forgotten_from: 1 } };
    return withPurge(restored, purgeAt(doc.expires_at, at, memories.windowMs));
  });
}

/** Adds the time of permanent deletion to an update; null: never. */
function withPurge(update: Update<MemoryDoc>, purge_at: Date | null): Update<MemoryDoc> {
  if (purge_at) return { ...update, $set: { ...update.$set, purge_at } as Partial<MemoryDoc> };
  return { ...update, $unset: { ...update.$unset, purge_at: 1 } };
}
