import { createHash } from "node:crypto";
import type { RequestContext } from "../../../lib/access/caller.ts";
import { invalidValue, isFault, unknownReference } from "../../../lib/contract/faults.ts";
import { stringifyExact } from "../../../lib/json/json.ts";
import { requireReadable } from "../../remember/memories/readable.ts";
import type { EvidenceKind } from "./approvals.contract.ts";
import type { Asked } from "./approvals.model.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** Returns the digest of what the caller can read. @throws Fault not_found */
const DIGESTS: Record<EvidenceKind, (ctx: RequestContext, id: string) => Promise<string | null>> = {
  async event(ctx, event_id) {
    const { payload } = await ctx.call<{ payload: object }, object>("events.get", { event_id });
    return sha256(stringifyExact(payload));
  },
  async memory(ctx, id) {
    return sha256((await requireReadable(ctx, id.toLowerCase())).content);
  },
  async output(ctx, output_id) {
    const found = await ctx.call<{ content_hash: string }, object>("outputs.get", { output_id });
    return found.content_hash;
  },
  document: (ctx, document_id) => ctx.call<string, object>("documents.digest", { document_id }),
  async link(_ctx, address) {
    if (/^https?:$/.test(URL.parse(address)?.protocol ?? "")) return null;
    throw invalidValue("evidence", "evidence: expected a link that begins with http:// or https://.");
  },
};

/** Adds digests to the evidence of a question. @throws Fault validation_error for what the caller cannot read */
export async function digestEvidence(
  ctx: RequestContext,
  given: readonly { kind: EvidenceKind; id: string }[],
): Promise<Asked["evidence"]> {
  const digested: Asked["evidence"] = [];
  for (const { kind, id } of given) {
    try {
      digested.push({ kind, id, sha256: await DIGESTS[kind](ctx, id) });
    } catch (err) {
      const isUnknown = isFault(err) && ["not_found", "validation_failed"].includes(err.type);
      throw isUnknown ? unknownReference("evidence", kind, id) : err;
    }
  }
  return digested;
}
