import { existsSync, readdirSync } from "node:fs";
import { type ResolveFnOutput, type ResolveHookContext, registerHooks } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { TSchema } from "typebox";
import { type Config, EXTENSION_PLACES, readConfig, SETTINGS } from "../config.ts";
import { type Setting, selectNames } from "../lib/settings.ts";
import type { NamedGauge } from "../observability/gauges.ts";
import type { AnyModel } from "../storage/model.ts";
import type { Hooks } from "./hooks.ts";
import type { Runtime, ServiceFactory } from "./runtime.ts";

/**
 * One optional capability: what `extensions/<name>/extension.ts` exports as `extension` (docs/extensions.md). The module is
 * loaded by everything that reads contracts, so it imports no service but in `run`.
 */
export interface Extension {
  /** Its purpose, in a sentence. */
  about: string;
  /** Modules with operations. */
  contracts?: readonly object[];
  models?: readonly AnyModel[];
  /** Environment variables: read them with `valuesOf` (config.ts). */
  settings?: Record<string, Setting<unknown>>;
  /** Checks settings that depend on each other. @throws ConfigError */
  check?(config: Config): void;
  /** Metrics that it adds to `/metrics`. */
  gauges?: readonly NamedGauge[];
  /** Descriptions of its domains, by the first part of their actions. */
  domains?: Record<string, string>;
  /** The preset of MCP tools that its domains belong to, besides `all`. */
  preset?: "sense" | "remember" | "work";
  /** Events that it publishes as the service, by type. */
  events?: Record<string, { means: string; data: TSchema }>;
  /** A line for models about how to reach it (`GET /llms.txt`). */
  llms?: string;
  /** Commands of `sensorium-server`, by their first word. */
  commands?: Record<string, ServerCommand>;
  /** Its part on nodes. */
  run?(): Promise<Running>;
}

export interface ServerCommand {
  /** A line of the help: the words after `sensorium-server`, and what they do. */
  usage: string;
  /** Returns false if the words make no sense. @throws ConfigError with what to do */
  run(words: string[], config: Config, say: (line: string) => void): Promise<boolean>;
}

export interface Running {
  /** Services by their names in `SERVICES`; those of `gateway` run in the process of each gateway. */
  services?: Record<string, ServiceFactory | ServiceFactory[]>;
  /** Its functions for the core, on a node that runs services. */
  hooks?(runtime: Omit<Runtime, "hooks">): Hooks | Promise<Hooks>;
}

interface InstalledExtension extends Extension {
  name: string;
  /** Whether it stands in `extensions`, not in `EXTENSIONS_DIR`. */
  isOurs: boolean;
  /** Whether `EXTENSIONS` names it. */
  runs: boolean;
}

const OURS = join(import.meta.dirname, "../extensions");
const { EXTENSIONS, EXTENSIONS_DIR } = EXTENSION_PLACES;

const ROOT = join(import.meta.dirname, "..");
if (EXTENSIONS_DIR !== null) registerHooks({ resolve: resolveForExtensions });

const places = [OURS, ...(EXTENSIONS_DIR === null ? [] : [EXTENSIONS_DIR])].flatMap(foldersIn);
const all = places.map(({ name }) => name);
/** Thrown by `requireExtensions` rather than here, where nobody could catch it. */
const selected = attempt(() =>
  EXTENSIONS.join() === "none" ? [] : selectNames("EXTENSIONS", EXTENSIONS, all),
);

/** Every extension that is there, whether it runs or not: its rows are erased, moved and counted either way. */
export const INSTALLED: readonly InstalledExtension[] = await Promise.all(
  places.map(async ({ name, file }) => ({
    name,
    isOurs: file.startsWith(OURS),
    ...((await import(pathToFileURL(file).href)) as { extension: Extension }).extension,
    runs: selected instanceof Error || selected.includes(name),
  })),
);

/** The extensions that run. */
export const RUNNING: readonly InstalledExtension[] = INSTALLED.filter(({ runs }) => runs);

/** Every setting, those of installed extensions too. docs/reference/settings.md is generated from this. */
export const ALL_SETTINGS: Record<string, Setting<unknown>> = Object.assign(
  {},
  SETTINGS,
  ...INSTALLED.map(({ settings }) => settings),
);

/** Reads and validates all of them. @throws ConfigError */
export function readAllSettings(env?: NodeJS.ProcessEnv): Config {
  const config = readConfig(env, ALL_SETTINGS);
  for (const { check } of RUNNING) check?.(config);
  return config;
}

/** @throws ConfigError for a name in `EXTENSIONS` that no extension has */
export function requireExtensions(): void {
  if (selected instanceof Error) throw selected;
}

/**
 * Finds what extensions elsewhere import: `sensorium-server/lib/contract/contract.ts` is that module of this server, and
 * packages that they do not bring are the server's.
 */
function resolveForExtensions(
  specifier: string,
  context: ResolveHookContext,
  next: (specifier: string, context?: Partial<ResolveHookContext>) => ResolveFnOutput,
): ResolveFnOutput {
  const [, path] = /^sensorium-server\/(.+)\.ts$/.exec(specifier) ?? [];
  if (path) return next(pathToFileURL(fileIn(ROOT, path)).href, context);
  const isTheirs = context.parentURL?.startsWith(pathToFileURL(resolve(EXTENSIONS_DIR as string)).href);
  if (!isTheirs || /^[./]|^\w+:/.test(specifier)) return next(specifier, context);
  try {
    return next(specifier, context);
  } catch {
    return next(specifier, { ...context, parentURL: import.meta.url });
  }
}

/** A module of a checkout, or of the package, whose files have no types. */
function fileIn(folder: string, name: string): string {
  const files = ["ts", "js"].map((end) => join(folder, `${name}.${end}`));
  return files.find(existsSync) ?? (files[0] as string);
}

function attempt<T>(run: () => T): T | Error {
  try {
    return run();
  } catch (err) {
    return err as Error;
  }
}

function foldersIn(parent: string): { name: string; file: string }[] {
  if (!existsSync(parent)) return [];
  return readdirSync(parent)
    .sort()
    .flatMap((name) => {
      const file = fileIn(resolve(parent, name), "extension");
      return existsSync(file) ? [{ name, file }] : [];
    });
}
