import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { runTool } from "./tools.ts";

/** The workspace of the integrations, with a separate lock file: the server is installed without their frameworks. */
const FOLDER = join(import.meta.dirname, "../../packages/integrations");

/** Whether those of the lock file are installed. */
export function hasFrameworks(): boolean {
  const installed = join(FOLDER, "node_modules/.package-lock.json");
  const timeOf = (file: string) => statSync(file).mtimeMs;
  return existsSync(installed) && timeOf(installed) >= timeOf(join(FOLDER, "package-lock.json"));
}

/** Installs the frameworks, once. @throws ToolsUnavailable if npm does not answer */
export async function getFrameworks(say: (line: string) => void): Promise<void> {
  if (hasFrameworks()) return;
  say("installing the frameworks of the integrations, once");
  await runTool("npm", ["ci", "--no-audit", "--no-fund", "--ignore-scripts"], { cwd: FOLDER });
}
