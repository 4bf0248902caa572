import type { PushResult } from "./push-sender.ts";

/**
 * The consequence of an attempt (api.md Delivery, `push`).
 * - `acknowledge`: done. `retry`: the attempt counts. If the endpoint named a delay, it holds for its other deliveries,
 * too; otherwise the receiver's own delays decide.
 * - `park`: the endpoint was not reached; its breaker opens and the attempt does not count.
 * - `stop`: the endpoint is gone permanently. `release`: the worker aborted it.
 */
export type Outcome =
  | { do: "acknowledge" }
  | { do: "retry"; delay_seconds: number | null; reason: string }
  | { do: "park"; reason: string }
  | { do: "stop" }
  | { do: "release" };

type Answered = Extract<PushResult, { kind: "answered" }>;

const GONE = 410;
const LONGEST_WAIT_SECONDS = 86_400;

export function outcomeOf(result: PushResult): Outcome {
  switch (result.kind) {
    case "aborted":
      return { do: "release" };
    case "unreachable":
      return { do: "park", reason: result.reason };
    case "failed":
      return { do: "retry", delay_seconds: null, reason: result.reason };
    case "answered":
      return judgeAnswer(result);
  }
}

function judgeAnswer({ status, retry_after_seconds, note = "" }: Answered): Outcome {
  if (status >= 200 && status < 300) return { do: "acknowledge" };
  if (status === GONE) return { do: "stop" };
  return {
    do: "retry",
    delay_seconds: retry_after_seconds === null ? null : Math.min(retry_after_seconds, LONGEST_WAIT_SECONDS),
    reason: `the endpoint responded with ${status}${note}`,
  };
}
