import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TestServer } from "./server.ts";

const ROOT = join(import.meta.dirname, "../..");
/** Parts of the checkout that commands in the documents need. */
const NEEDED = ["bin", "node_modules", "package.json", "packages"];

/** A page of the documents, by its path from the root. */
export function page(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/** The fenced blocks of one language, in order. */
export function blocksOf(text: string, language = "sh"): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(
    ([, block]) => block as string,
  );
}

/** Runs the TypeScript programs of a page as one, with an agent's key, and returns what it prints. */
export async function runPrograms(text: string, { dataDir, url, credentials }: TestServer): Promise<string> {
  const file = join(dataDir, "program.ts");
  const client = JSON.stringify(join(ROOT, "packages/client/index.ts"));
  writeFileSync(file, blocksOf(text, "ts").join("").replace('"sensorium"', client));
  const env = { PATH: process.env.PATH, SENSORIUM_URL: url, SENSORIUM_API_KEY: credentials.agent.api_key };
  return (await promisify(execFile)(process.execPath, [file], { env })).stdout;
}

/** A reader's folder: this checkout, with the server's `data`. */
export function readersFolder({ dataDir }: TestServer): { folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "sensorium-reader-"));
  for (const name of NEEDED) symlinkSync(join(ROOT, name), join(folder, name));
  symlinkSync(dataDir, join(folder, "data"));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Returns the start of every guide: address and token as in the README, and the helpers of the guides' README. */
export function prelude(): string {
  const token = blocksOf(page("README.md")).find((block) => block.includes("credential()"));
  return `${token}${blocksOf(page("docs/guides/README.md")).join("")}`;
}

/** Returns the lines of a page's expected output (```text) that are missing, in order; `…` matches any text. */
export function unseen(text: string, output: string): string[] {
  let at = 0;
  const lines = blocksOf(text, "text").flatMap((block) => block.trimEnd().split("\n"));
  return lines.filter((line) => {
    const pattern = new RegExp(line.split("…").map(RegExp.escape).join(".*"), "g");
    pattern.lastIndex = at;
    if (!pattern.exec(output)) return true;
    at = pattern.lastIndex;
    return false;
  });
}
