import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { Fault, unknownReference } from "../../../lib/contract/faults.ts";
import type { Blobs, BlobWrite } from "../../../storage/blobs/blobs.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Fact, Run, RunArtifactDoc, Snapshot } from "./runs.model.ts";
import type { completeRunStep } from "./steps.contract.ts";

type Owner = Pick<Run, "_id" | "tenant_id">;

/**
 * Stores the content of a run's artifacts; the bytes are durable before the run refers to them.
 * @throws Fault validation_error for an unknown artifact, validation_failed for invalid base64
 */
export async function keepContents(
  artifacts: TenantCollection<RunArtifactDoc>,
  blobs: Blobs,
  write: BlobWrite,
  { _id: run_id, tenant_id }: Owner,
  contents: NonNullable<ParamsOf<typeof completeRunStep>["artifact_contents"]>,
): Promise<Snapshot[]> {
  if (contents.length === 0) return [];
  const ids = contents.map(({ artifact_id }) => artifact_id.toLowerCase());
  const rows = await artifacts.find(tenant_id, { run_id, _id: { $in: ids } }, { projection: { _id: 1 } });
  const known = new Set(rows.map(({ _id }) => _id));
  const unknown = ids.findIndex((id) => !known.has(id));
  if (unknown >= 0) {
    const field = `artifact_contents.${unknown}.artifact_id`;
    throw unknownReference(field, "artifact", ids[unknown] as string);
  }
  const bytes = contents.map(({ content_base64 }, i) => decodeContent(content_base64, i));
  return Promise.all(
    contents.map(async ({ mime_type }, i) => ({
      ...{ artifact_id: ids[i] as string, mime_type },
      ...(await blobs.put(write, bytes[i] as Buffer)),
    })),
  );
}

/** The contract has checked the alphabet; a pattern that checks the length too would overflow on megabytes. */
function decodeContent(text: string, i: number): Buffer {
  const base64 = text.replace(/\s+/g, "");
  if (base64.length % 4 === 0) return Buffer.from(base64, "base64");
  const [field, expected] = [`artifact_contents.${i}.content_base64`, "standard base64, padded"];
  const details = { field, value: null, expected, example: "SGVsbG8=" };
  throw new Fault("validation_failed", `${field}: expected ${expected}.`, details);
}

/** Returns the updates of artifacts by the snapshots in a run's facts. */
export function snapshotsIn({ _id: run_id, tenant_id }: Owner, facts: readonly Fact[]) {
  return facts.flatMap(({ at, snapshots = [] }) =>
    snapshots.map(({ artifact_id, hash, size, mime_type }) => {
      const $set = { content_hash: hash, byte_size: size, mime_type, snapshotted_at: at, updated_at: at };
      const older = { $or: [{ snapshotted_at: null }, { snapshotted_at: { $lte: at } }] };
      return { tenant_id, filter: { _id: artifact_id, run_id, ...older }, update: { $set } };
    }),
  );
}

/** Carries them out. Repeating them changes nothing. */
export async function writeSnapshots(
  artifacts: TenantCollection<RunArtifactDoc>,
  updates: ReturnType<typeof snapshotsIn>,
): Promise<void> {
  for (const { tenant_id, filter, update } of updates) await artifacts.update(tenant_id, filter, update);
}
