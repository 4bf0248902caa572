import type { Operation, ToolHints } from "../../../lib/contract/contract.ts";

/** Returns what a contract says of its tool. */
export function hintsOf({ mcp }: Operation): ToolHints {
  return typeof mcp === "object" ? mcp : {};
}
