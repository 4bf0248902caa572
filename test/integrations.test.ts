/** @needs frameworks */
import { execFile } from "node:child_process";
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { blocksOf, page, runCommands } from "./support/guides.ts";
import { newClient } from "./support/integrations.ts";
import { oldestNode, shellWith } from "./support/oldest-node.ts";
import { startServer, type TestServer } from "./support/server.ts";

const ROOT = join(import.meta.dirname, "..");
const FOLDERS = globSync("packages/integrations/*/package.json", { cwd: ROOT })
  .map((file) => dirname(file))
  .sort();
const manifestOf = (folder: string) => JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8"));

/** It packs, and installs the frameworks from npm. */
const LONGEST_MS = 200_000;

let server: TestServer;
let folder: string;
/** The contents of a clone, without packages that npm installs. */
let checkout: string;
/** The program's folder of the READMEs. */
let app: string;

beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT_PER_MINUTE: "0" } });
  folder = mkdtempSync(join(tmpdir(), "sensorium-integrations-"));
  checkout = join(folder, "sensorium");
  app = join(folder, "my-agent");
  for (const each of ["package.json", "tsconfig.json", "bin", "packages", "docs/openapi.json"])
    cpSync(join(ROOT, each), join(checkout, each), { recursive: true, filter: isInClone });
  linkModules(join(folder, "modules"), ["packages/client"]);
  symlinkSync(join(ROOT, "node_modules/.bin"), join(folder, "modules/.bin"));
  symlinkSync(join(ROOT, "packages/client/node_modules"), join(checkout, "packages/client/node_modules"));
  linkModules(join(folder, "frameworks"), ["packages/client", ...FOLDERS], "packages/integrations/");
});
afterAll(async () => {
  if (folder) rmSync(folder, { recursive: true });
  await server?.stop();
});

const isInClone = (file: string) => !/(^|\/)(node_modules|dist|tests?|generated\/types\.ts)$/.test(file);

/** Makes the `node_modules` that `npm ci` makes: what it installed here, and the packages of the clone. */
function linkModules(to: string, own: string[], from = ""): void {
  const packages = new Map(own.map((each) => [manifestOf(each).name, join(checkout, each)]));
  for (const name of globSync("{[!@.]*,@*/*}", { cwd: join(ROOT, from, "node_modules") })) {
    mkdirSync(dirname(join(to, name)), { recursive: true });
    symlinkSync(packages.get(name) ?? join(ROOT, from, "node_modules", name), join(to, name));
  }
}

/** Commands of npm that take long: in every folder what `npm ci` would do, and on a second Node nothing again. */
const installed = (done: boolean) => `npm() {
  if [ "$*" = ci ]; then ln -sfn ../modules node_modules
  elif [ "$*" = "ci --prefix packages/integrations" ]; then ln -sfn ../../../frameworks packages/integrations/node_modules
  elif ${done} && [[ " pack install " == *" $1 "* ]]; then :
  else command npm "$@"; fi
}
rm -f node_modules packages/integrations/node_modules ${done ? "../my-agent/*.mjs" : "-r ../my-agent"}
`;

/** Runs a README's commands in a clone, on this Node; `done` if packed and installed before. */
async function read(readme: string, node: string, done: boolean): Promise<void> {
  const { url, apiKey } = await newClient(server);
  const text = readme.replace("http://127.0.0.1:3000", url).replace("ak_live_…", apiKey);
  const env = {
    ...shellWith(realpathSync(node)),
    npm_config_prefer_offline: "true",
    npm_config_audit: "false",
  };
  const shown = done ? text.replace(/```text\n[^`]*\.tgz\n```\n/, "") : text;
  await runCommands(shown, checkout, {
    prelude: installed(done),
    env,
    longestMs: LONGEST_MS,
    adapt: (program) => program,
  });
}

const compile = (cwd: string, ...args: string[]) =>
  promisify(execFile)(join(ROOT, "node_modules/.bin/tsc"), args, { cwd });

test("the integrations have their types", async () => {
  await compile(ROOT, "--noEmit", "-p", "packages/integrations/tsconfig.check.json");
});

test("each integration with a package.json is here", () => expect(FOLDERS.length).toBeGreaterThanOrEqual(4));

describe.each(FOLDERS)("%s", (from) => {
  const manifest = manifestOf(from);
  const readme = page(`${from}/README.md`);

  test.each([
    ["oldest", oldestNode(), false],
    ["newest", process.execPath, true],
  ])(
    "the commands of its README print what it shows, on the %s Node",
    async (_, node, done) => {
      await read(readme, node, done);
    },
    LONGEST_MS + 20_000,
  );

  test("packs what a program loads and no more", () => {
    const files = globSync("**/*", { cwd: join(app, "node_modules", manifest.name) });
    const isMeant = (file: string) =>
      /^(dist(\/.+\.(js|d\.ts))?|package\.json|README\.md|LICENSE)$/.test(file);
    expect(files.filter((file) => !isMeant(file))).toEqual([]);
    expect(files).toEqual(expect.arrayContaining(["dist/index.js", "dist/index.d.ts", "LICENSE"]));
  });

  test("depends on the client alone; each framework is the program's, and was tried", () => {
    expect(manifest.dependencies).toEqual({ sensorium: manifest.version });
    for (const name of Object.keys(manifest.peerDependencies))
      expect([name, manifest.devDependencies[name]]).toEqual([
        name,
        expect.stringMatching(/^\d+\.\d+\.\d+$/),
      ]);
  });

  test("the program of its README has its types", async () => {
    const file = `${basename(from)}.mts`;
    writeFileSync(join(app, file), blocksOf(readme, "ts").join(""));
    const strict = ["--strict", "--noEmit", "--skipLibCheck", "--module", "nodenext", "--target", "es2023"];
    await compile(app, ...strict, "--types", "node", "--typeRoots", join(ROOT, "node_modules/@types"), file);
  });
});
