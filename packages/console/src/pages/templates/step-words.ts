import type { TemplateStep } from "../../../../client/index.ts";

export const AT_DEADLINE: Record<TemplateStep["on_deadline"], string> = {
  notify: "Only notify",
  skip: "Skip the step",
  abandon: "Close the run as abandoned",
};

export function completedBy({
  wait_for,
  completion_mode,
}: Pick<TemplateStep, "wait_for" | "completion_mode">) {
  if (wait_for) return `Event ${wait_for.event_type}`;
  return completion_mode === "attestation" ? "Attestation" : "Accepted handoff";
}
