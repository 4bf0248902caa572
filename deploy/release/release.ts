/**
 * `npm run release -- --dry-run` packs what a release publishes into `packed`, or the folder given: in `npm` the server, the
 * client with the command line, and the integrations, in `python` the wheels, server.json for the MCP registry, and the server's bill of materials. A tag publishes the former: the workflow calls
 * this, and each package names the repository that it runs in (GITHUB_SERVER_URL, GITHUB_REPOSITORY). `--server` packs the
 * packages of the server alone, for the image.
 */
import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { billOfMaterials } from "./bill-of-materials.ts";
import { buildServer, type Manifest, manifestIn, ROOT } from "./build.ts";
import { MCP_PACKAGE, mcpName, mcpServer } from "./mcp-registry.ts";
import { publicPackages, whyNot } from "./names.ts";

const { author } = manifestIn(".");
const { GITHUB_SERVER_URL, GITHUB_REPOSITORY } = process.env;
const REPOSITORY = GITHUB_SERVER_URL && GITHUB_REPOSITORY && `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}`;

const run = (command: string, args: string[]) =>
  execFileSync(command, args, { cwd: ROOT, stdio: ["ignore", "inherit", "inherit"] });

const { values, positionals } = parseArgs({
  options: { "dry-run": { type: "boolean" }, server: { type: "boolean" } },
  allowPositionals: true,
});
if (!values["dry-run"]) {
  console.error(
    whyNot() ??
      "Usage: npm run release -- --dry-run [--server] [FOLDER]. Only a tag publishes, by the workflow.",
  );
  process.exit(2);
}
const packed = resolve(positionals[0] ?? join(ROOT, "packed"));
const stage = mkdtempSync(join(tmpdir(), "sensorium-release-"));
try {
  if (!REPOSITORY)
    console.warn("GITHUB_SERVER_URL and GITHUB_REPOSITORY are not set: the packages name no repository.");
  rmSync(packed, { recursive: true, force: true });
  for (const kind of ["npm", "python"]) mkdirSync(join(packed, kind), { recursive: true });
  run("npm", ["run", "--silent", "console:build"]);
  for (const folder of await buildServer(join(stage, "server"))) packNpm(folder, ".");
  if (!values.server) {
    for (const folder of publicPackages()) packNpm(buildLibrary(folder), folder);
    for (const file of globSync("packages/{*,integrations/*}/pyproject.toml", { cwd: ROOT }).sort())
      packPython(dirname(file));
    writeFileSync(join(packed, "sbom.spdx.json"), billOfMaterials(join(stage, "server/sensorium-server")));
    if (GITHUB_REPOSITORY && REPOSITORY)
      writeJson(join(packed, "server.json"), mcpServer(GITHUB_REPOSITORY, REPOSITORY));
  }
} finally {
  rmSync(stage, { recursive: true });
}

/** Compiles a package, and copies what it publishes. */
function buildLibrary(folder: string): string {
  const to = join(stage, basename(folder));
  rmSync(join(ROOT, folder, "dist"), { recursive: true, force: true });
  if (folder === "packages/client") run("npm", ["run", "--silent", "client:types"]);
  run(join(ROOT, "node_modules/.bin/tsc"), ["-p", folder]);
  for (const file of ["package.json", "README.md", "LICENSE", ...(manifestIn(folder).files as string[])])
    cpSync(join(ROOT, folder, file), join(to, file), { recursive: true });
  return to;
}

/** @param source the folder in the repository, which `npm publish --provenance` compares */
function packNpm(folder: string, source: string): void {
  const file = join(folder, "package.json");
  const { name, ...manifest } = JSON.parse(readFileSync(file, "utf8")) as Manifest;
  const origin = REPOSITORY && {
    repository: { type: "git", url: `git+${REPOSITORY}.git`, directory: source },
    homepage: `${REPOSITORY}#readme`,
    bugs: `${REPOSITORY}/issues`,
    ...(source === MCP_PACKAGE && { mcpName: mcpName(GITHUB_REPOSITORY as string) }),
  };
  writeJson(file, { name, ...manifest, author, ...origin });
  run("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", join(packed, "npm"), folder]);
}

function writeJson(file: string, content: object): void {
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);
}

function packPython(folder: string): void {
  const to = join(stage, basename(folder));
  const isSource = (file: string) =>
    !/(^|\/)(__pycache__|\.\w+_cache|tests|dist)$/.test(relative(ROOT, file));
  cpSync(join(ROOT, folder), to, { recursive: true, filter: isSource });
  cpSync(join(ROOT, "LICENSE"), join(to, "LICENSE"));
  const urls = `\n[project.urls]\nRepository = "${REPOSITORY}"\nIssues = "${REPOSITORY}/issues"\n`;
  const authors = `license-files = ["LICENSE"]\nauthors = [{ name = "${author}" }]\n`;
  const text = readFileSync(join(to, "pyproject.toml"), "utf8");
  const filled = text.replace(/^license = .*\n/m, (line) => line + authors) + (REPOSITORY ? urls : "");
  writeFileSync(join(to, "pyproject.toml"), filled);
  run("python3", ["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", join(packed, "python"), to]);
}
