import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestServer } from "./server.ts";
import { shell } from "./shell.ts";

const ROOT = join(import.meta.dirname, "../..");
/** Parts of the checkout that commands in the documents need. */
const NEEDED = ["bin", "node_modules", "package.json", "packages"];
/** Separates the output of blocks. */
const SEPARATOR = "\x1e";
const SEPARATE = "printf '\\x1e'\n";
/** The README's definition of the command line, and one that waits until a new memory has its vector: readers are slower. */
const COMMAND = 'sensorium() { node packages/client/bin.js "$@"; }\n';
export const PATIENT = `sensorium() {
  if [ "$1" = recall ]; then until node packages/client/bin.js "$@" | grep -v '^No matching'; do :; done
  else node packages/client/bin.js "$@"; fi
}
`;

/** Commands of a page, with the output that the page shows below them. */
type Commands = { script: string; shown: string };

/** A page of the documents, by its path from the root. */
export function page(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/** Returns the settings that a guide requires of the server before its first command. */
export function requiredSettings(guide: string): Record<string, string> {
  const [opening = ""] = guide.split("```");
  const settings = [...opening.matchAll(/\b([A-Z_]+)=(\w+) npm start/g)];
  return Object.fromEntries(settings.map(([, name, value]) => [name, value]));
}

/** The README, for a shell that begins with `PATIENT`. */
export const readmePage = () => page("README.md").replace(COMMAND, "");

/** The fenced blocks of one language, in order. */
export function blocksOf(text: string, language = "sh"): string[] {
  return [...fences(text)].filter((fence) => fence.language === language).map(({ block }) => block);
}

function fences(text: string): { language: string; block: string; before: string }[] {
  let at = 0;
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(
    ({ 0: whole, 1: language, 2: block, index }) => {
      const before = text.slice(at, index);
      at = index + whole.length;
      return { language: language as string, block: block as string, before };
    },
  );
}

/**
 * Returns a page's `sh` blocks, each with the `text` block below it. A TypeScript or Python block becomes a file, under
 * the name that the text before it has in backticks; a later block without a name is appended to the same file.
 */
function commandsOf(text: string, adapt: (program: string) => string): Commands[] {
  const commands: Commands[] = [];
  let [files, file] = ["", ""];
  for (const { language, block, before } of fences(text)) {
    if (language === "sh") {
      commands.push({ script: files + block, shown: "" });
      files = "";
    } else if (language === "text") (commands.at(-1) as Commands).shown += block;
    else if (language === "ts" || language === "python") {
      file = [...before.matchAll(/`(\w+\.(?:ts|mjs|py))`/g)].at(-1)?.[1] ?? file;
      if (file && file.endsWith(".py") === (language === "python"))
        files += `cat >> ${file} <<'END-OF-BLOCK'\n${adapt(block)}END-OF-BLOCK\n`;
    }
  }
  return commands;
}

/** Imports the client from its source: `dist` is not built in a checkout. client-package.test.ts tests the package. */
function useCheckout(program: string): string {
  return program.replace('"sensorium"', JSON.stringify(join(ROOT, "packages/client/index.ts")));
}

/**
 * Runs a page's commands in one shell, after `prelude`, as a reader does who starts in `folder`. `adapt` changes programs.
 *
 * @throws Error if a command fails, if the page leaves a file that git would show, or if a block prints anything but the output that the page shows below it (nothing,
 * if it shows none).
 */
export async function runCommands(
  text: string,
  folder: string,
  { prelude = "", env = {}, longestMs = undefined as number | undefined, adapt = useCheckout } = {},
): Promise<void> {
  const commands = commandsOf(text, adapt);
  if (commands.length === 0) throw new Error("the page has no commands");
  const before = readdirSync(folder);
  // As in a terminal, errors are part of the output.
  const script = ["exec 2>&1\n", prelude, ...commands.flatMap((each) => [SEPARATE, each.script])].join("");
  const { code, output } = await shell(script, { cwd: folder, env: { ...process.env, ...env }, longestMs });
  const printed = output.split(SEPARATOR);
  for (const [at, { script, shown }] of [{ script: prelude, shown: "" }, ...commands].entries()) {
    const failed = at === printed.length - 1 && code !== 0;
    if (!failed && matches(shown, printed[at] as string)) continue;
    const ending = failed ? `exit code ${code}, ` : "";
    throw new Error(`commands:\n${script}\nshown:\n${shown}\n${ending}printed:\n${printed[at]}`);
  }
  const left = readdirSync(folder).filter((name) => !before.includes(name) && !isIgnored(folder, name));
  if (left.length > 0) throw new Error(`the page leaves in the checkout: ${left.join(", ")}`);
}

/** Whether git ignores this at the top of a checkout; without git nobody knows. */
function isIgnored(folder: string, name: string): boolean {
  const path = statSync(join(folder, name)).isDirectory() ? `${name}/` : name;
  return spawnSync("git", ["check-ignore", "--quiet", "--no-index", path], { cwd: ROOT }).status !== 1;
}

/** In shown output `…` matches any text within a line, and a line `…` any lines. */
function matches(shown: string, output: string): boolean {
  const lines = shown.trimEnd().split("\n");
  const patterns = lines.map((line) =>
    line === "…" ? "(?:.*\\n)*?" : `${line.split("…").map(RegExp.escape).join(".*")}\\n`,
  );
  return new RegExp(`^${patterns.join("")}$`).test(`${output.trimEnd()}\n`);
}

/** A reader's folder: this checkout, with the `data` of the server, if one is given. */
export function readersFolder(server?: TestServer): { folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "sensorium-reader-"));
  // The profiles of the suites' readers.
  mkdirSync(join(folder, ".config"));
  for (const name of NEEDED) symlinkSync(join(ROOT, name), join(folder, name));
  if (server) symlinkSync(server.dataDir, join(folder, "data"));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Returns the start of every guide: address and key as in the README, and the helpers of the guides' README. */
export function prelude(): string {
  const token = blocksOf(page("README.md")).find((block) => block.includes("credential()"));
  return `${token}${helpers()}`;
}

/** Returns the helpers of the guides' README. */
export function helpers(): string {
  return blocksOf(page("docs/guides/README.md")).join("");
}
