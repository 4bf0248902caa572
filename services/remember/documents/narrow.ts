import { Fault } from "../../../lib/contract/faults.ts";
import { newUuid } from "../../../lib/ids.ts";
import { writings } from "../../../lib/text/subject.ts";
import { place } from "../../../mixins/queue.ts";
import { folded } from "./audience.ts";
import { AUDIENCES, type Audience, SENSITIVITIES } from "./documents.contract.ts";
import type { DocumentDoc } from "./documents.model.ts";
import type { Documents } from "./documents.ts";

/** Fields that decide who reads a document, who finds it, and which erasures reach it. */
type Access = Pick<
  DocumentDoc,
  "scope" | "team_id" | "agent_id" | "sensitivity" | "audience" | "subject" | "_id"
>;
type Narrowed = Pick<DocumentDoc, "scope" | "team_id" | "sensitivity" | "audience" | "subject">;
const FIELDS = ["sensitivity", "audience", "subject"] as const;

/**
 * Gives all documents of these bytes in this source the narrowest access that was ever requested for them: `row` and
 * those that are stored, superseded or failed.
 *
 * @returns false if another write came first @throws Fault conflict if one access is not part of the other
 */
export async function narrowTwins({ rows, now }: Documents, row: DocumentDoc): Promise<boolean> {
  const { tenant_id, source_id, hash } = row;
  const standing = { source_id, hash, status: { $ne: "deleted" as const } };
  const twins = () => rows.batches(tenant_id, standing, { sort: { _id: 1 } });
  for await (const batch of twins()) for (const twin of batch) Object.assign(row, narrowest(row, twin));
  for await (const batch of twins()) {
    for (const twin of batch) {
      const access = narrowest(row, twin);
      if (differences(access, twin).length === 0) continue;
      const { _id, access_change, queue = place(tenant_id, now(), twin.agent_id) } = twin;
      const unchanged = { _id, access_change: access_change ?? { $exists: false }, status: twin.status };
      // A document in work keeps its place: its next step applies the change.
      const $set = { ...access, access_change: newUuid(), ...(twin.queue === undefined && { queue }) };
      if (!(await rows.update(tenant_id, unchanged, { $set }))) return false;
    }
  }
  return true;
}

/** Names the fields in which two documents differ. */
export function differences(a: Narrowed, b: Narrowed): string[] {
  return FIELDS.filter((field) => JSON.stringify(a[field] ?? null) !== JSON.stringify(b[field] ?? null));
}

/** @throws Fault conflict */
function narrowest(row: Access, twin: Access): Narrowed {
  const { scope, team_id } = readers(row, twin);
  const [a, b] = [row, twin].map(({ sensitivity }) => SENSITIVITIES.indexOf(sensitivity)) as [number, number];
  if (row.subject && twin.subject && !writings(row.subject).includes(twin.subject))
    throw conflict(twin, "subject");
  return {
    ...{ scope, team_id, sensitivity: (a > b ? row : twin).sensitivity },
    audience: Object.fromEntries(AUDIENCES.map((kind) => [kind, common(row, twin, kind)])) as Audience,
    subject: twin.subject ?? row.subject ?? null,
  };
}

function readers(row: Access, twin: Access): Pick<Access, "scope" | "team_id"> {
  const [isOpen, isStoredOpen] = [row.scope === "institutional", twin.scope === "institutional"];
  if (isOpen) return twin;
  const isSameUploader = row.agent_id === twin.agent_id;
  if (isStoredOpen && (row.scope === "team" || isSameUploader)) return row;
  const isSame =
    row.scope === twin.scope && (row.scope === "team" ? row.team_id === twin.team_id : isSameUploader);
  if (isSame) return twin;
  throw conflict(twin, "sensitivity");
}

function common(row: Access, twin: Access, kind: keyof Audience): string[] {
  const [given, stored] = [row.audience[kind], twin.audience[kind]];
  if (given.length === 0 || stored.length === 0) return given.length ? given : stored;
  const wanted = new Set(given.map(folded));
  const both = stored.filter((each) => wanted.has(folded(each)));
  if (both.length === 0) throw conflict(twin, `audience.${kind}`);
  return both;
}

function conflict({ _id }: Access, field: string): Fault {
  const message =
    `The source has this file with another \`${field}\`, and one does not include the other. Delete the stored ` +
    "document first, or upload the file to another source.";
  return new Fault("conflict", message, { existing_resource_id: _id, field });
}
