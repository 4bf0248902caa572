import type { TSchema } from "typebox";
import { PLATFORM_EVENTS, type PlatformEventType } from "../../../../lib/cloudevents/platform-types.ts";
import { DocumentChange } from "../../../remember/documents/documents.contract.ts";
import { MemoryChange, MemoryCitation } from "../../../remember/memories/events.contract.ts";
import { DeadLetterNotice } from "../../../sense/deliveries/dead-letters.contract.ts";
import { A2aTaskNotice } from "../../../work/a2a/a2a-tasks.contract.ts";
import { ApprovalChange } from "../../../work/approvals/approvals.contract.ts";
import { RunChange } from "../../../work/runs/events.contract.ts";

/** The schema of `data` by the beginning of the type. */
const DATA: Record<string, TSchema> = {
  "memory.": MemoryCitation,
  "service.a2a.": A2aTaskNotice,
  "service.approval.": ApprovalChange,
  "service.delivery.": DeadLetterNotice,
  "service.document.": DocumentChange,
  "service.memory.": MemoryChange,
  "service.run.": RunChange,
};

export interface PlatformEvent {
  type: PlatformEventType;
  means: string;
  data: TSchema;
}

/** The events that the service publishes itself. */
export const platformEvents: PlatformEvent[] = Object.entries(PLATFORM_EVENTS).map(([type, means]) => {
  const data = DATA[type.slice(0, type.lastIndexOf(".") + 1)] as TSchema;
  return { type: type as PlatformEventType, means, data };
});
