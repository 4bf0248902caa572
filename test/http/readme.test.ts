import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { blocksOf, page, readersFolder, unseen } from "../support/guides.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { shell } from "../support/shell.ts";

/** Replaces npx, which takes npm a second; client-package.test.ts tests the real one. */
const NPX = 'npx() { shift; node packages/client/bin.js "$@"; }\n';
const readme = page("README.md");

let server: TestServer;
let reader: ReturnType<typeof readersFolder>;

beforeAll(async () => {
  // No settings: the limits are those that a newcomer has.
  server = await startServer();
  reader = readersFolder(server);
});
afterAll(async () => {
  reader?.remove();
  await server?.stop();
});

test("its commands lead from the first interest to an acknowledged delivery", async () => {
  const { code, output } = await shell(NPX + blocksOf(readme).join(""), { cwd: reader.folder });
  if (code !== 0) throw new Error(`exit code ${code}, after:\n${output}`);
  expect({ unseen: unseen(readme, output), output }).toEqual({ unseen: [], output });
  expect(output).toContain("Parcels over 30 kg go by freight  (semantic, agent, ");

  // A second run neither gets a duplicate nor waits for a delivery.
  const overHttp = readme.slice(readme.indexOf("## The same over HTTP"));
  const again = await shell(blocksOf(overHttp).join(""), { cwd: reader.folder });
  expect({ ...again, unseen: unseen(overHttp, again.output) }).toMatchObject({ code: 0, unseen: [] });
});
