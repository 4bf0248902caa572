import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadKits } from "./kits.ts";

/**
 * Callers of each operation, by hand from the specification and its decisions: tests expect them of contracts, of the
 * gateway and of the list of MCP tools must not be read from them. A new operation needs a line here.
 *
 * - `everyone`: agents and people with the scope; `agents+admins`: of people only admins.
 * - `agents`: people get 403, or the status that is named. `people`, `org-admins`: agents get 403.
 * - `public`: nobody needs a token; `public?`: a token tells more.
 * - `operator`: OPERATOR_TOKEN. `monitor`: METRICS_TOKEN, or this machine.
 * - `tool`: agents have it as an MCP tool.
 */
const TABLE = readFileSync(join(import.meta.dirname, "access-table.txt"), "utf8");
const OF_EXTENSIONS = (await loadKits()).map(({ access = "" }) => access);

export type Who =
  | "everyone"
  | "agents+admins"
  | "agents"
  | "agents/400"
  | "agents/401"
  | "people"
  | "org-admins"
  | "public"
  | "public?"
  | "operator"
  | "monitor";

export interface AccessRow {
  action: string;
  who: Who;
  /** Null: none. */
  scope: string | null;
  isTool: boolean;
  method: string;
  /** With the version segment. */
  path: string;
}

export const ACCESS: AccessRow[] = [TABLE, ...OF_EXTENSIONS]
  .flatMap((table) => table.split("\n"))
  .filter((line) => line && !line.startsWith("#"))
  .map((line) => {
    const [action, who, scope, ...rest] = line.split(/ +/) as [string, Who, string, ...string[]];
    const isTool = rest[0] === "tool";
    const [method, path] = (isTool ? rest.slice(1) : rest) as [string, string];
    return { action, who, scope: scope === "-" ? null : scope, isTool, method, path };
  });
