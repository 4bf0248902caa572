import { sendFromBlob } from "../answer/from-blob.ts";
import { type Answer, send } from "../answer/respond.ts";
import type { Edge } from "../edge.ts";
import type { Arrival } from "../exchange.ts";

/** Replaces moleculer-web's `sendResponse`: writes status and headers at once, from one flat list. */
export function sendAnswer(edge: Edge, arrival: Arrival, answer: Answer): void | Promise<void> {
  const { res, caller } = arrival;
  const envelope = edge.envelopeOf(arrival);
  const { insert } = answer;
  if (!insert || !caller) return send(res, answer, envelope);
  const open = () => edge.runtime.blobs.stream(caller.tenant_id, insert.hash);
  return sendFromBlob(res, { ...answer, insert }, envelope, open);
}
