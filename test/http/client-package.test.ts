import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { blocksOf, page } from "../support/guides.ts";
import { oldestNode } from "../support/oldest-node.ts";
import { ownFolder } from "../support/own-folder.ts";
import { patience } from "../support/patience.ts";
import { useShared } from "../support/use.ts";

const ROOT = join(import.meta.dirname, "../..");
const VITE = createRequire(import.meta.url).resolve("vite");
const TSC = join(ROOT, "node_modules/.bin/tsc");

const folder = await ownFolder();
const dist = join(folder, "source/dist");
execFileSync("npm", ["run", "--silent", "client:build", "--", "--outDir", dist], { cwd: ROOT });

const source = join(folder, "source");
for (const file of ["bin.js", "package.json", "README.md", "LICENSE"])
  cpSync(join(ROOT, "packages/client", file), join(source, file));
const packed = execFileSync("npm", ["pack", "--json", "--ignore-scripts"], { cwd: source }).toString();
const [{ filename, files: listed }] = JSON.parse(packed);
const files: string[] = listed.map(({ path }: { path: string }) => path);
/** Where the package is installed from its tarball. */
const installed = join(folder, "app/node_modules/sensorium");
mkdirSync(installed, { recursive: true });
writeFileSync(join(folder, "app/package.json"), '{ "type": "module" }');
execFileSync("tar", ["-xzf", join(source, filename), "--strip-components=1", "-C", installed]);

const server = await useShared();
const env = { SENSORIUM_URL: server.url, SENSORIUM_API_KEY: server.credentials.agent.api_key, HOME: folder };

const APP = { cwd: join(folder, "app"), env: { PATH: process.env.PATH }, timeout: 50_000 * patience() };
/** Runs something in the folder of an application that has the package and nothing else, less long than a test. */
const inApp = (command: string, args: string[], env = {}) =>
  execFileSync(command, args, { ...APP, env: { ...APP.env, ...env } }).toString();

test("the package has what package.json names and no more, and depends only on what --query needs", () => {
  const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  const { types, default: main } = manifest.exports["."];
  for (const file of [types, main, manifest.bin.sensorium, "README.md", "LICENSE"])
    expect([file, existsSync(join(installed, file))]).toEqual([file, true]);
  expect(
    files.filter((file) => !/^(dist\/.+\.(js|d\.ts)|bin\.js|package\.json|README\.md|LICENSE)$/.test(file)),
  ).toEqual([]);
  expect(manifest.dependencies).toEqual({ jmespath: expect.stringMatching(/^\d/) });
  expect(manifest.version).toBe(JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).version);
  expect(readFileSync(join(installed, "LICENSE"), "utf8")).toBe(readFileSync(join(ROOT, "LICENSE"), "utf8"));
});

test("it runs on the Node of this machine, from publish to acknowledgement", () => {
  const script = `
    import { createClient } from "sensorium";
    const client = createClient(${JSON.stringify({ url: server.url, apiKey: server.credentials.agent.api_key })});
    const { agent } = await client.auth.me();
    await client.interests.create({ agent_id: agent.id, event_type: "com.example.*" });
    const listener = client.listen((event) => {
      console.log(event.type);
      void listener.stop();
    });
    await client.publish({ type: "com.example.thing", source: "urn:test" });
    await listener.done;
    console.log((await client.deliveries.stats()).in_flight);
  `;
  expect(inApp(oldestNode(), ["--input-type=module", "-e", script])).toBe("com.example.thing\n0\n");
});

test("its command line runs there too", () => {
  const cli = join(installed, "dist/cli.js");
  expect(inApp(oldestNode(), [cli, "doctor"], env)).toContain("✓ key");
  const { version } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  expect(inApp(oldestNode(), [cli, "--version"])).toBe(`${version}\n`);
});

test("the command of a checkout runs there too, by the Node that npm brought", () => {
  const { bin } = JSON.parse(readFileSync(join(ROOT, "packages/client/package.json"), "utf8"));
  const command = join(ROOT, "packages/client", bin.sensorium);
  expect(statSync(command).mode & 0o111).toBe(0o111);
  expect(inApp(oldestNode(), [command, "doctor"], env)).toContain("✓ key");
  const typo = spawnSync(oldestNode(), [command, "nonsense"], { encoding: "utf8" });
  expect([typo.status, typo.stderr]).toEqual([2, expect.stringContaining('"nonsense" is not a command.')]);
});

test("the program of its README does what it says", () => {
  const program = blocksOf(page("packages/client/README.md"), "ts").join("");
  const answer = inApp(oldestNode(), ["--input-type=module", "-e", program], env);
  expect(answer).toBe("remembered com.example.order.placed\n");
});

test.each(["README.md", "docs/guides/client.md"])(
  "the program of %s is JavaScript for that Node, too",
  (file) => {
    writeFileSync(join(folder, "app/shown.mjs"), blocksOf(page(file), "ts").join(""));
    expect(inApp(oldestNode(), ["--check", "shown.mjs"])).toBe("");
  },
);

test("its types hold in strict programs, those of the documents among them", () => {
  const program = `
    import { createClient, isApiError, type Client, type CloudEvent } from "sensorium";
    const client = createClient({ url: "http://localhost", apiKey: "ak_live_" });
    export async function titles(): Promise<string[]> {
      const { results } = await client.memories.search({ query: "a" });
      return results.map(({ memory }) => memory.title);
    }
    client.listen((event: CloudEvent) => event.type.toUpperCase());
    client.listen<{ total: number }>((event) => event.data.total.toFixed());
    type Events = { "com.example.order.placed": { total: number }; "com.example.order.paid": { by: string } };
    const typed = createClient<Events>({ url: "http://localhost", apiKey: "ak_live_" });
    typed.listen(({ type, data }) => (type === "com.example.order.paid" ? data.by.trim() : data.total.toFixed()));
    typed.publish({ type: "com.example.order.paid", source: "/", data: { by: "card" }, subject: "a", extra: 1 });
    // @ts-expect-error: the data are those of another type
    typed.publish({ type: "com.example.order.paid", source: "/", data: { total: 1 } });
    // @ts-expect-error: the type is none of the map
    typed.publish({ type: "com.example.order.payed", source: "/", data: { by: "card" } });
    export const untyped: Client = typed;
    // @ts-expect-error: a query is needed
    client.memories.search({}).catch((error: unknown) => isApiError(error, "not_found"));
  `;
  writeFileSync(join(folder, "app/program.mts"), program);
  const shown = ["README.md", "packages/client/README.md", "docs/guides/client.md"].map((file) =>
    ["ts", "typescript"].flatMap((language) => blocksOf(page(file), language)).join(""),
  );
  const node = "declare const process: { env: Record<string, string | undefined> };\n";
  for (const [at, each] of shown.entries()) writeFileSync(join(folder, `app/shown-${at}.mts`), node + each);
  const options = "--strict --noEmit --module nodenext --target es2023 --lib es2023,dom,dom.iterable".split(
    " ",
  );
  inApp(TSC, [...options, "--types", "", "program.mts", ...shown.map((_, at) => `shown-${at}.mts`)]);
});

test("a bundle of it for browsers needs nothing of Node", () => {
  writeFileSync(join(folder, "app/page.js"), `export { createClient, bySession } from "sensorium";\n`);
  const script = `
    const { build } = await import(${JSON.stringify(VITE)});
    const lib = { entry: "page.js", formats: ["es"], fileName: "bundle" };
    await build({ configFile: false, logLevel: "error", build: { lib, outDir: "out", minify: false } });
  `;
  inApp(process.execPath, ["--input-type=module", "-e", script]);
  const bundle = readFileSync(join(folder, "app/out/bundle.js"), "utf8");
  expect(bundle).toContain("/memories/search");
  expect(bundle).not.toMatch(/\bfrom\s*["']|\brequire\(|\bprocess\.|\bBuffer\b/);
});
