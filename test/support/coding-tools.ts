import { existsSync, globSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runTool } from "./tools.ts";

const PLATFORM = `${process.platform}-${process.arch}`;
/** Programs as npm has them for this platform, without what they load from elsewhere: 900 MB. */
const PACKAGES = {
  claude: `@anthropic-ai/claude-code-${PLATFORM}@2.1.331`,
  sdk: "@anthropic-ai/claude-agent-sdk@0.3.331",
  codex: `@openai/codex@0.169.0-${PLATFORM}`,
  gemini: "@google/gemini-cli@0.61.0",
};
const CACHE = join(import.meta.dirname, "../../node_modules/.cache/sensorium/coding-tools");
/** By the versions, so that other ones are not taken for these. */
const folder = join(CACHE, Object.values(PACKAGES).join("-").replace(/[@/]+/g, "-"));
const modules = join(folder, "node_modules");

export const CLAUDE = join(modules, `@anthropic-ai/claude-code-${PLATFORM}/claude`);
export const AGENT_SDK = join(modules, "@anthropic-ai/claude-agent-sdk/sdk.mjs");
export const GEMINI = join(modules, "@google/gemini-cli/bundle/gemini.js");
/** In a folder with the name of the one target that the package is for. */
export const codexProgram = () => globSync(join(modules, "@openai/codex/vendor/*/bin/codex"))[0] as string;

export const hasCodingTools = () => existsSync(folder);

/** Gets the coding tools from npm, once. @throws ToolsUnavailable if npm does not answer */
export async function getCodingTools(say: (line: string) => void): Promise<void> {
  if (hasCodingTools()) return;
  say("installing the coding tools of the tests, once");
  const unfinished = `${folder}.new`;
  await rm(CACHE, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  await writeFile(join(unfinished, "package.json"), '{ "private": true }\n');
  const quiet = ["--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"];
  // All that they need is in them.
  const alone = ["--omit=optional", "--omit=peer", "--legacy-peer-deps"];
  await runTool("npm", ["install", ...quiet, ...alone, ...Object.values(PACKAGES)], { cwd: unfinished });
  await rename(unfinished, folder);
}
