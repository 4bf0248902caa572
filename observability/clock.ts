import type { RecordClock } from "../storage/record-clock.ts";
import type { Health } from "./health.ts";
import { observeValue } from "./metrics.ts";

/** A larger error is worth a look: at the way to the record, or at its load. */
const LARGE_MS = 100;

/** Shows how well this node knows the record's time. */
export function observeClock(clock: RecordClock, health: Health): void {
  observeValue(
    "clock_offset_seconds",
    "How far the record's clock is ahead of this machine's",
    () => clock.offset / 1000,
  );
  observeValue(
    "clock_error_seconds",
    "How far this node's knowledge of the record's time may be wrong, either way",
    () => clock.error / 1000,
  );
  health.remark("clock", () =>
    clock.error > LARGE_MS
      ? `known to within ${Math.round(clock.error)} ms only: the record answers slowly or not at all`
      : null,
  );
}
