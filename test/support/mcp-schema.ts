import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ToolsUnavailable } from "./chart-tools.ts";

const MODULE = "github.com/modelcontextprotocol/registry";
const WORKFLOW = readFileSync(join(import.meta.dirname, "../../.github/workflows/release.yml"), "utf8");

/**
 * Returns the folder with the registry's JSON schemas of server.json, by date, of the version that publishes: in Go's cache
 * of modules.
 *
 * @throws ToolsUnavailable if Go or its proxy is missing
 */
export async function mcpSchemas(): Promise<string> {
  const [, version] = /registry\/cmd\/publisher@(v\S+)/.exec(WORKFLOW) ?? [];
  const { stdout } = await promisify(execFile)("go", [
    "mod",
    "download",
    "-json",
    `${MODULE}@${version}`,
  ]).catch((err: Error) => {
    throw new ToolsUnavailable(err.message);
  });
  return join(JSON.parse(stdout).Dir, "internal/validators/schemas");
}
