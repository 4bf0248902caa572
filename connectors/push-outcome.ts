import { pushBackOff } from "../lib/queue/backoff.ts";
import type { PushResult } from "./push-sender.ts";

/**
 * The consequence of an attempt (api.md Delivery, `push`).
 * - `acknowledge`: done. `retry`: the attempt counts; retried after the delay. `pause` also delays the endpoint's other
 * deliveries.
 * - `park`: the endpoint was not reached; its breaker opens and the attempt does not count.
 * - `stop`: the endpoint is gone permanently. `release`: the worker aborted it.
 */
export type Outcome =
  | { do: "acknowledge" }
  | { do: "retry"; delay_seconds: number; pause_seconds: number; reason: string }
  | { do: "park"; reason: string }
  | { do: "stop" }
  | { do: "release" };

type Answered = Extract<PushResult, { kind: "answered" }>;

const GONE = 410;
const LONGEST_WAIT_SECONDS = 86_400;

/** @param attempts of this delivery, including this one */
export function outcomeOf(result: PushResult, attempts: number): Outcome {
  switch (result.kind) {
    case "aborted":
      return { do: "release" };
    case "unreachable":
      return { do: "park", reason: result.reason };
    case "failed":
      return { do: "retry", delay_seconds: pushBackOff(attempts), pause_seconds: 0, reason: result.reason };
    case "answered":
      return judgeAnswer(result, attempts);
  }
}

function judgeAnswer({ status, retry_after_seconds, note = "" }: Answered, attempts: number): Outcome {
  if (status >= 200 && status < 300) return { do: "acknowledge" };
  if (status === GONE) return { do: "stop" };
  const asked = retry_after_seconds === null ? null : Math.min(retry_after_seconds, LONGEST_WAIT_SECONDS);
  return {
    do: "retry",
    delay_seconds: asked ?? pushBackOff(attempts),
    pause_seconds: asked ?? 0,
    reason: `the endpoint responded with ${status}${note}`,
  };
}
