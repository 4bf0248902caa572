import { unlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { blocksOf, page, readersFolder, runPrograms, unseen } from "../support/guides.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { shell } from "../support/shell.ts";

/**
 * Replaces npx, which takes a second to start (client-package.test.ts covers npx itself). Within that second a new
 * memory gets its vector: recall until then.
 */
const NPX = `npx() {
  shift
  if [ "$1" = recall ]; then until node packages/client/bin.js "$@" | grep -v '^No matching'; do :; done
  else node packages/client/bin.js "$@"; fi
}
`;
const readme = page("README.md");
const overHttp = readme.slice(readme.indexOf("The same over HTTP"), readme.indexOf("And in TypeScript"));

let server: TestServer;
let reader: ReturnType<typeof readersFolder>;

beforeAll(async () => {
  // No settings: the limits are those of a new installation.
  server = await startServer();
  reader = readersFolder(server);
});
afterAll(async () => {
  reader?.remove();
  await server?.stop();
});

test("its commands lead from the first interest to a memory", async () => {
  const { code, output } = await shell(NPX + blocksOf(readme).join(""), { cwd: reader.folder });
  if (code !== 0) throw new Error(`exit code ${code}, after:\n${output}`);
  expect({ unseen: unseen(readme, output), output }).toEqual({ unseen: [], output });
});

test("the part over HTTP can be repeated", async () => {
  const again = await shell(blocksOf(overHttp).join(""), { cwd: reader.folder });
  expect({ ...again, unseen: unseen(overHttp, again.output) }).toMatchObject({ code: 0, unseen: [] });
});

test("its program receives what it publishes", async () => {
  expect(await runPrograms(readme, server)).toBe("{ total: 180 }\n");
});

test("its commands find the server by DATA_DIR", async () => {
  unlinkSync(join(reader.folder, "data"));
  const env = { ...process.env, DATA_DIR: server.dataDir };
  const script = `${NPX + blocksOf(overHttp).join("")}npx sensorium recall 'when is the test environment reset'\n`;
  const { code, output } = await shell(script, { cwd: reader.folder, env });
  expect({ code, unseen: unseen(overHttp, output), output }).toEqual({ code: 0, unseen: [], output });
  expect(output).toContain("The staging database is wiped every night");
});
