import { createHash } from "node:crypto";
import type { Static } from "typebox";
import { hasScope, type RequestContext } from "../../../lib/access/caller.ts";
import { invalidValue, isFault, unknownReference } from "../../../lib/contract/faults.ts";
import { parseExact } from "../../../lib/json/json.ts";
import { measured } from "../../../lib/queue/work.ts";
import type { Blobs } from "../../../storage/blobs/blobs.ts";
import { requireReadable } from "../../remember/memories/readable.ts";
import type { ReadEvent } from "../../sense/events/events.ts";
import { readBeginning } from "../outputs/outputs.ts";
import type { EvidenceCard, EvidenceKind, EvidenceNow } from "./approvals.contract.ts";
import type { Question } from "./assignees.ts";

type Chunks = { chunks: { text: string }[] };
type Card = Static<typeof EvidenceCard>;
type Now = Static<typeof EvidenceNow>;

/** A piece of evidence, as the caller can read it now. */
interface Source {
  title: string;
  sha256: string | null;
  /** Its text, or the beginning of that. */
  text(blobs: Blobs): Promise<string> | string;
  /** The text that has this digest, where versions are kept. */
  version?(blobs: Blobs, sha256: string): Promise<string | null>;
  isForgotten?: boolean;
  /** The id of what supersedes it. */
  successor?(): Promise<string | null> | string | null;
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** Each throws the Fault not_found for what the caller cannot read. */
const SOURCES: Record<EvidenceKind, (ctx: RequestContext, id: string) => Promise<Source>> = {
  async event(ctx, event_id) {
    const { type, envelope } = await ctx.call<ReadEvent, object>("events.read", { event_id });
    return {
      title: type,
      sha256: measured(() => sha256(envelope)),
      text: () => JSON.stringify(parseExact(envelope).data ?? null, null, 2),
    };
  },
  async memory(ctx, given) {
    const id = given.toLowerCase();
    const { title, content, status } = await requireReadable(ctx, id);
    return {
      ...{ title, sha256: sha256(content), text: () => content, isForgotten: status === "forgotten" },
      async successor() {
        if (status !== "superseded" && status !== "merged") return null;
        const history = await ctx.call<{ versions: { id: string }[] }, object>("memories.history", { id });
        return history.versions[0]?.id ?? null;
      },
    };
  },
  async output(ctx, output_id) {
    const { tenant_id } = ctx.meta.caller;
    type Version = { title: string; content_hash: string };
    const shown = await ctx.call<Version & { superseded_by: string | null }, object>("outputs.get", {
      output_id,
    });
    const { title, content_hash, superseded_by } = shown;
    return {
      ...{ title, sha256: content_hash, successor: () => superseded_by },
      text: (blobs) => readBeginning(blobs, tenant_id, content_hash),
      async version(blobs, hash) {
        const { versions } = await ctx.call<{ versions: Version[] }, object>("outputs.list_versions", {
          output_id,
        });
        return versions.some((each) => each.content_hash === hash)
          ? readBeginning(blobs, tenant_id, hash)
          : null;
      },
    };
  },
  async document(ctx, document_id) {
    type Document = { filename: string; superseded_by: string | null; ingestion_source_id: string };
    const shown = await ctx.call<Document, object>("documents.get", { document_id });
    return {
      ...{ title: shown.filename, successor: () => shown.superseded_by },
      sha256: await ctx.call<string, object>("documents.digest", { document_id }),
      async text() {
        const first = { document_id, source_id: shown.ingestion_source_id, limit: 5 };
        const { chunks } = await ctx.call<Chunks, object>("documents.list_chunks", first);
        return chunks.map(({ text }) => text).join("\n\n");
      },
    };
  },
  async link(_ctx, address) {
    if (/^https?:$/.test(URL.parse(address)?.protocol ?? ""))
      return { title: address, sha256: null, text: () => "" };
    throw invalidValue("evidence", "evidence: expected a link that begins with http:// or https://.");
  },
};

const isUnreadable = (err: unknown) => isFault(err) && ["not_found", "validation_failed"].includes(err.type);

/** Adds digests to the evidence of a question. @throws Fault validation_error for what the caller cannot read */
export async function digestEvidence(
  ctx: RequestContext,
  evidence: readonly { kind: EvidenceKind; id: string }[],
): Promise<Question["evidence"]> {
  const digested: Question["evidence"] = [];
  for (const { kind, id } of evidence) {
    const known = digested.find((each) => each.kind === kind && each.id === id);
    try {
      digested.push(known ?? { kind, id, sha256: (await SOURCES[kind](ctx, id)).sha256 });
    } catch (err) {
      throw isUnreadable(err) ? unknownReference("evidence", kind, id) : err;
    }
  }
  return digested;
}

/** Returns the evidence with what the caller can read of it, and what has changed since the question was asked. */
export async function readEvidence(
  ctx: RequestContext,
  blobs: Blobs,
  evidence: Question["evidence"],
): Promise<Card[]> {
  const cards: Card[] = [];
  for (const each of evidence) cards.push({ ...each, ...(await compare(ctx, blobs, each)) });
  return cards;
}

type Compared = Omit<Card, "kind" | "id" | "sha256">;

async function compare(
  ctx: RequestContext,
  blobs: Blobs,
  { kind, id, sha256: asked }: Question["evidence"][number],
): Promise<Compared> {
  const source = await sourceOf(ctx, kind, id);
  if (!source) return { state: "unavailable", title: null, text: null, current: null };
  const { title, isForgotten } = source;
  if (kind === "link") return { state: null, title, text: null, current: null };
  const text = await source.text(blobs);
  if (source.sha256 !== asked) {
    const before = await source.version?.(blobs, asked ?? "");
    if (typeof before === "string")
      return { state: "changed", title, ...excerpts(before, { id, title, text }) };
    return { state: "changed", title, ...excerpts(text) };
  }
  if (isForgotten) return { state: "forgotten", title, ...excerpts(text) };
  const newest = await newestOf(ctx, kind, source);
  if (newest === null) return { state: "unchanged", title, ...excerpts(text) };
  const now = newest && { id: newest.id, title: newest.title, text: await newest.text(blobs) };
  return { state: "superseded", title, ...excerpts(text, now) };
}

/** Returns null for what the caller may not read. */
async function sourceOf(ctx: RequestContext, kind: EvidenceKind, id: string): Promise<Source | null> {
  const needsScope = kind !== "event" && kind !== "link";
  if (needsScope && !hasScope(ctx.meta.caller, "memory:read")) return null;
  try {
    return await SOURCES[kind](ctx, id);
  } catch (err) {
    if (isUnreadable(err)) return null;
    throw err;
  }
}

const MOST_SUCCESSORS = 20;

/** Returns what supersedes a source in the end; null if nothing does, undefined if the caller may not read it. */
async function newestOf(ctx: RequestContext, kind: EvidenceKind, source: Source) {
  let newest: (Source & { id: string }) | null | undefined = null;
  let next = (await source.successor?.()) ?? null;
  for (let step = 0; next !== null && step < MOST_SUCCESSORS; step++) {
    const newer: Source | null = await sourceOf(ctx, kind, next);
    if (!newer) return newest ?? undefined;
    newest = { ...newer, id: next };
    next = (await newer.successor?.()) ?? null;
  }
  return newest;
}

const MOST_TEXT = 2000;
/** Characters before the first difference of two texts. */
const BEFORE = 200;

/** Cuts a text and what it is now to the same part: where they begin to differ. */
function excerpts(text: string, current?: Now): Pick<Card, "text" | "current"> {
  if (!current) return { text: cut(text, 0), current: null };
  let same = 0;
  while (same < text.length && text[same] === current.text[same]) same++;
  const from = Math.max(text.length, current.text.length) > MOST_TEXT ? Math.max(0, same - BEFORE) : 0;
  return { text: cut(text, from), current: { ...current, text: cut(current.text, from) } };
}

function cut(text: string, from: number): string {
  const part = text.slice(from, from + MOST_TEXT).toWellFormed();
  return `${from > 0 ? "…" : ""}${part}${from + MOST_TEXT < text.length ? "…" : ""}`;
}
