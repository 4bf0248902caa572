import type { ServerResponse } from "node:http";
import { Output } from "../../services/edge/gateway/answer/output.ts";

/** Returns a writer to a response, or to a stream that stands for one, with a separate share. */
export function outputTo(res: unknown): Output {
  return new Output(
    res as ServerResponse,
    { tenant_id: "tn_of_a_test", caller: "ag_of_a_test" },
    "tests.write",
  );
}
