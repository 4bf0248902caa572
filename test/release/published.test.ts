/** @needs frameworks, pypi, mcpschemas: the release packs the integrations too. */
import { execFileSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Ajv } from "ajv";
import { mcpSchemas } from "../support/mcp-schema.ts";

const ROOT = join(import.meta.dirname, "../..");
const VERSION = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).version;
const addFormats = createRequire(import.meta.url)("ajv-formats") as (ajv: Ajv) => void;
const ENV = { GITHUB_SERVER_URL: "https://github.com", GITHUB_REPOSITORY: "Example-Org/sensorium" };

/** The build of all packages, and npm's and pip's installations. */
const LONGEST_MS = 400_000;

let folder: string;
const packed = (...path: string[]) => join(folder, "packed", ...path);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sensorium-published-"));
  const args = ["release/release.ts", "--dry-run", packed()];
  execFileSync(process.execPath, args, { cwd: ROOT, env: { ...process.env, ...ENV }, stdio: "pipe" });
}, LONGEST_MS);

afterAll(() => {
  if (folder) rmSync(folder, { recursive: true });
});

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
