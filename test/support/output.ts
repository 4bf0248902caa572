import type { ServerResponse } from "node:http";
import { Output } from "../../services/edge/gateway/answer/output.ts";

/** Returns what writes to a response, or to a stream that stands for one, on a share of its own. */
export function outputTo(res: unknown): Output {
  return new Output(
    res as ServerResponse,
    { tenant_id: "tn_of_a_test", caller: "ag_of_a_test" },
    "tests.write",
  );
}
