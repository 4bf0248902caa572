import type { Call } from "../../../lib/access/caller.ts";
import type { Access } from "../../../lib/access/visibility.ts";
import { Fault, notFound } from "../../../lib/contract/faults.ts";
import { callerAccess } from "../../../mixins/access.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Changes } from "./changes.ts";
import type { MemoryDoc } from "./memories.model.ts";
import { mayManage, mayReadById } from "./rows.ts";

/** Dependencies of the service's actions. */
export interface Parts {
  memories: TenantCollection<MemoryDoc>;
  changes: Changes;
  /** The store's clock. */
  now(): Date;
  /** How long a forgotten memory can be restored, in milliseconds. */
  windowMs: number;
}

/** A memory and the reader's access. */
export interface Found {
  doc: MemoryDoc;
  access: Access;
}

/** Returns a memory by id. @throws Fault not_found if the caller may not read one. */
export async function findReadable({ memories, now }: Parts, ctx: Call, id: string): Promise<Found> {
  const { caller } = ctx.meta;
  const [access, doc] = await Promise.all([
    callerAccess(ctx),
    memories.findOne(caller.tenant_id, { _id: id }),
  ]);
  if (!doc || !mayReadById(caller, access, doc, now().getTime())) throw notFound("memory", id);
  return { doc, access };
}

/** Returns a memory that the caller may change. @throws Fault not_found, forbidden. */
export async function findManaged(parts: Parts, ctx: Call, id: string): Promise<Found> {
  const found = await findReadable(parts, ctx, id);
  if (mayManage(ctx.meta.caller, found.access, found.doc)) return found;
  throw new Fault("forbidden", "Only its owner or an org admin may change or forget a memory.");
}

/** The fault for operations that require an active memory. */
export function notActive({ _id, status }: MemoryDoc): Fault {
  return new Fault("conflict", `Memory ${_id} is ${status}, not active.`, {
    existing_resource_id: _id,
    status,
  });
}
