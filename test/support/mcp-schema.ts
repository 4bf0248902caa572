import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ToolsUnavailable } from "./tools.ts";

const WORKFLOW = readFileSync(join(import.meta.dirname, "../../.github/workflows/release.yml"), "utf8");
const [, VERSION = ""] = /registry\/cmd\/publisher@(v\S+)/.exec(WORKFLOW) ?? [];
const MODULE = `github.com/modelcontextprotocol/registry@${VERSION}`;

/** Whether Go's cache of modules has them. */
export const hasMcpSchemas = () => download({ GOPROXY: "off" }).then(Boolean, () => false);

/**
 * Returns the folder with the registry's JSON schemas of server.json, by date, of the version that publishes: in Go's cache
 * of modules.
 *
 * @throws ToolsUnavailable if Go or its proxy is missing
 */
export async function mcpSchemas(): Promise<string> {
  const folder = await download().catch((err: Error) => {
    throw new ToolsUnavailable(err.message);
  });
  return join(folder, "internal/validators/schemas");
}

async function download(env: Record<string, string> = {}): Promise<string> {
  const args = ["mod", "download", "-json", MODULE];
  const { stdout } = await promisify(execFile)("go", args, { env: { ...process.env, ...env } });
  return JSON.parse(stdout).Dir;
}
