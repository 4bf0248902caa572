/** @needs frameworks, pypi, mcpschemas: the release packs the integrations too. */
import { execFile, execFileSync } from "node:child_process";
import { globSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "@jest/globals";
import { Ajv } from "ajv";
import { startAlone } from "../support/alone.ts";
import { mcpSchemas } from "../support/mcp-schema.ts";
import { atEnd, ownFolder } from "../support/own-folder.ts";
import { type Registry, startRegistry } from "../support/registry.ts";
import type { TestServer } from "../support/server.ts";

const ROOT = join(import.meta.dirname, "../..");
const VERSION = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).version;
const addFormats = createRequire(import.meta.url)("ajv-formats") as (ajv: Ajv) => void;
const ENV = { GITHUB_SERVER_URL: "https://github.com", GITHUB_REPOSITORY: "Example-Org/sensorium" };

/** The build of all packages, and npm's and pip's installations. */
const LONGEST_MS = 400_000;

let folder: string;
const packed = (...path: string[]) => join(folder, "packed", ...path);

beforeAll(async () => {
  folder = await ownFolder();
  const args = ["deploy/release/release.ts", "--dry-run", packed()];
  execFileSync(process.execPath, args, { cwd: ROOT, env: { ...process.env, ...ENV }, stdio: "pipe" });
}, LONGEST_MS);

let registry: Registry;
let server: TestServer;

/** Publishes as the workflow does, and installs the server as its README says. */
beforeAll(async () => {
  const upstream = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim();
  const files = globSync("*.tgz", { cwd: packed("npm") });
  const names = files.map((file) => manifestIn(file).name);
  registry = await startRegistry(names, upstream);
  for (const file of files)
    await npm("publish", "publish", packed("npm", file), "--ignore-scripts", "--access=public");
  expect(registry.published()).toEqual(names.sort());
  await npm("app", "install", "sensorium-server", "sensorium-export");
  server = await startAlone({ root: join(folder, "app/node_modules/sensorium-server") });
}, LONGEST_MS);

atEnd(async () => {
  await server?.stop();
  await registry?.stop();
});

/** Runs a command in a new folder, with the client's settings for the server. @throws Error with what it printed */
async function run(place: string, command: string, args: string[], input = ""): Promise<string> {
  const cwd = join(folder, place);
  mkdirSync(cwd, { recursive: true });
  const env = {
    ...process.env,
    ...registry.env,
    PATH: [join(cwd, "node_modules/.bin"), dirname(process.execPath), process.env.PATH].join(delimiter),
    npm_config_cache: join(folder, "cache"),
    HOME: folder,
    npm_config_userconfig: process.env.npm_config_userconfig ?? join(homedir(), ".npmrc"),
    ...(server && { SENSORIUM_URL: server.root, SENSORIUM_API_KEY: server.credentials.agent.api_key }),
  };
  const running = promisify(execFile)(command, args, { cwd, env, maxBuffer: 2 ** 26 });
  running.child.stdin?.end(input);
  return (await running).stdout;
}

const npm = (place: string, ...args: string[]) => run(place, "npm", [...args, "--no-audit", "--no-fund"]);

const manifestIn = (file: string) =>
  JSON.parse(
    execFileSync("tar", ["-xzOf", packed("npm", file), "package/package.json"], { encoding: "utf8" }),
  );

test("server.json is what the MCP registry accepts, and names the package that has its name", async () => {
  const server = JSON.parse(readFileSync(packed("server.json"), "utf8"));
  const [newest = ""] = globSync("20*.json", { cwd: await mcpSchemas() })
    .sort()
    .reverse();
  const schema = JSON.parse(readFileSync(join(await mcpSchemas(), newest), "utf8"));
  expect(server.$schema).toBe(schema.$id);
  const ajv = new Ajv({ strict: false });
  addFormats(ajv);
  ajv.validate(schema, server);
  expect(ajv.errors).toBeNull();
  expect(server).toMatchObject({
    name: "io.github.Example-Org/sensorium",
    version: VERSION,
    repository: { url: "https://github.com/Example-Org/sensorium" },
  });
  const [{ identifier, version }] = server.packages;
  const { name, mcpName, bin } = manifestIn(`${identifier}-${version}.tgz`);
  expect([name, mcpName, Object.keys(bin)]).toEqual([identifier, server.name, [identifier]]);
});

test("the bill of materials has what the server depends on, and no tools", () => {
  const { spdxVersion, name, packages } = JSON.parse(readFileSync(packed("sbom.spdx.json"), "utf8"));
  expect([spdxVersion, name]).toEqual(["SPDX-2.3", `sensorium-server@${VERSION}`]);
  const names = packages.map((each: { name: string }) => each.name);
  const { dependencies } = manifestIn(`sensorium-server-${VERSION}.tgz`);
  const others = Object.keys(dependencies).filter((each) => !each.startsWith("sensorium-"));
  expect(names).toEqual(expect.arrayContaining([...others, "@opentelemetry/sdk-trace", "swagger-ui-dist"]));
  expect(names).toContain("react-dom");
  expect(names).not.toContain("jest");
});

test("each package names the repository, and its folder there", () => {
  const files = globSync("*.tgz", { cwd: packed("npm") });
  expect(files.length).toBeGreaterThan(5);
  for (const file of files) {
    const { repository, mcpName, version } = manifestIn(file);
    expect([file, repository.url]).toEqual([file, "git+https://github.com/Example-Org/sensorium.git"]);
    expect([file, version, !!mcpName]).toEqual([file, VERSION, file === `sensorium-${VERSION}.tgz`]);
  }
});

test("the server that npm installs runs, and so does its command", async () => {
  expect((await fetch(`${server.root}/readyz`)).status).toBe(200);
  expect(await run("app", "sensorium-server", ["--version"])).toBe(`${VERSION}\n`);
});

test(
  "the client, the command line and the bridge for MCP are installed and reach the server",
  async () => {
    await npm("client", "install", "sensorium");
    const code = `import { createClient } from "sensorium";
      console.log((await createClient().auth.me()).agent.id);`;
    const { id } = server.credentials.agent;
    expect(await run("client", "node", ["--input-type=module", "-e", code])).toBe(`${id}\n`);
    expect(await run("client", "sensorium", ["remember", "Parcels travel by night"])).toMatch(/\S/);
    expect(await run("client", "sensorium", ["recall", "parcels"])).toContain("Parcels travel by night");
    const [{ packageArguments }] = JSON.parse(readFileSync(packed("server.json"), "utf8")).packages;
    const clientInfo = { name: "test", version: "1" };
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
    const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params };
    const args = packageArguments.map(({ value }: { value: string }) => value);
    const answer = await run("client", "sensorium", args, `${JSON.stringify(initialize)}\n`);
    expect(JSON.parse(answer).result).toMatchObject({ serverInfo: { version: VERSION } });
  },
  LONGEST_MS,
);

test(
  "each integration in JavaScript is installed with its framework and loads",
  async () => {
    const names = registry.published().filter((name) => !/^sensorium(-|$)/.test(name));
    expect(names.length).toBeGreaterThan(3);
    await npm("integrations", "install", ...names);
    for (const name of names) {
      const code = `console.log(Object.keys(await import(${JSON.stringify(name)})).length)`;
      const exported = await run("integrations", "node", ["--input-type=module", "-e", code]);
      expect([name, Number(exported) > 0]).toEqual([name, true]);
    }
  },
  LONGEST_MS,
);

test(
  "the wheels are installed with their dependencies, load and reach the server",
  async () => {
    const wheels = globSync("*.whl", { cwd: packed("python") }).map((file) => packed("python", file));
    expect(wheels.length).toBeGreaterThan(3);
    await run(".", "python3", ["-m", "venv", "venv"]);
    const python = join(folder, "venv/bin/python");
    await run(".", python, ["-m", "pip", "install", "--quiet", "--no-cache-dir", ...wheels]);
    const modules = wheels.map((file) => /([^/]+?)-\d/.exec(file)?.[1]);
    const code = `import ${modules.join(", ")}\nprint(sensorium.Sensorium().auth.me().agent.id)`;
    expect(await run(".", python, ["-c", code])).toBe(`${server.credentials.agent.id}\n`);
  },
  LONGEST_MS,
);
