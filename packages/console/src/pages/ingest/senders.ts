import type { Webhook } from "../../../../client/index.ts";
import senders from "../../../generated/senders.json";

/** The name of a format: CloudEvents or a preset. */
export type FormatName = Extract<Webhook["mapping"], string>;

interface Sender {
  title: string;
  /** Where the sender shows the secret that it signs with; absent if it takes one from here. */
  secret?: string;
  sample: { payload: unknown; headers?: string };
}

/** Senders with a preset, written by `npm run openapi` from `lib/webhooks/senders/`. */
export const SENDERS: Record<Exclude<FormatName, "cloudevents">, Sender> = senders;

/** Returns the sender of a format; undefined for CloudEvents and own mappings. */
export function senderOf(format: Webhook["mapping"]): Sender | undefined {
  return typeof format === "string" && format !== "cloudevents" ? SENDERS[format] : undefined;
}
