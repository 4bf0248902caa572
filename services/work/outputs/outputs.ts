import type { RequestContext } from "../../../lib/access/caller.ts";
import { type Access, mayRead, visibleTo } from "../../../lib/access/visibility.ts";
import { Fault, notFound } from "../../../lib/contract/faults.ts";
import { isUuid } from "../../../lib/ids.ts";
import type { Blobs } from "../../../storage/blobs/blobs.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { ownerAccess } from "../../identity/agents/find-agent.ts";
import type { ChunkDoc, Edition, OutputDoc, VersionDoc } from "./outputs.model.ts";

/** The rows and blobs of outputs. */
export interface Outputs {
  rows: TenantCollection<OutputDoc>;
  versions: TenantCollection<VersionDoc>;
  chunks: TenantCollection<ChunkDoc>;
  blobs: Blobs;
  /** The store's clock. */
  now(): number;
  /** Updates search for a row that was just written: at once if its text is short. */
  settle(doc: OutputDoc): Promise<void>;
  /** Wakes the loop when an output has work. */
  nudge(): void;
}

/** Returns an output by id or slug, if the caller may read it. @throws Fault not_found */
export async function findReadable(
  { rows }: Outputs,
  ctx: RequestContext,
  named: string,
): Promise<OutputDoc> {
  const filter = isUuid(named) ? { _id: named.toLowerCase() } : { slug: named };
  const [access, doc] = await Promise.all([
    ownerAccess(ctx),
    rows.findOne(ctx.meta.caller.tenant_id, filter),
  ]);
  if (!doc || doc.deleted_at || !mayRead(access, doc)) throw notFound("output", named);
  return doc;
}

/** Leaves out the large fields. */
export const BRIEF = { metadata_json: 0, derived_from_ids: 0, references_ids: 0, supersedes_ids: 0 } as const;

/** Returns the ids of readable outputs among these ids and slugs. */
export async function readableIds(
  { rows }: Outputs,
  tenant_id: string,
  access: Access,
  named: readonly string[],
): Promise<string[]> {
  if (named.length === 0) return [];
  const ids = named.filter(isUuid).map((id) => id.toLowerCase());
  const slugs = named.filter((each) => !isUuid(each));
  const filter = { deleted_at: null, $and: [{ $or: [{ _id: { $in: ids } }, { slug: { $in: slugs } }] }] };
  const outputs = await rows.find(
    tenant_id,
    { ...filter, ...visibleTo(access) },
    { projection: { slug: 1 } },
  );
  const byName = new Map(outputs.flatMap(({ _id, slug }) => [[_id, _id] as const, [slug, _id] as const]));
  return [...new Set(named.flatMap((each) => byName.get(isUuid(each) ? each.toLowerCase() : each) ?? []))];
}

/** Returns a version by number or id. @throws Fault not_found */
export async function findVersion({ versions }: Outputs, doc: OutputDoc, named: string): Promise<Edition> {
  const wanted = isUuid(named) ? { _id: named.toLowerCase() } : { version_num: Number(named) };
  if (wanted._id === doc.version_id || wanted.version_num === doc.version_num) return doc;
  const version = await versions.findOne(doc.tenant_id, { output_id: doc._id, ...wanted });
  if (!version) {
    const message = `There is no version ${named} of the output. The latest is ${doc.version_num}.`;
    throw new Fault("not_found", message, { resource_type: "output_version", resource_id: named });
  }
  return version;
}

const BEGINNING = 65_536;

/** Returns the first characters of a text. */
export async function readBeginning(blobs: Blobs, tenant_id: string, hash: string): Promise<string> {
  const stream = await blobs.stream(tenant_id, hash);
  const parts: Buffer[] = [];
  let size = 0;
  // Leaving the loop closes the blob.
  for await (const part of stream) {
    parts.push(part);
    size += part.length;
    if (size >= BEGINNING) break;
  }
  const text = new TextDecoder().decode(Buffer.concat(parts), { stream: true });
  return text.slice(0, BEGINNING);
}
