import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { withSettings } from "../../docs/settings.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { shell } from "../support/shell.ts";

const ROOT = join(import.meta.dirname, "../..");
const readme = await readFile(join(ROOT, "README.md"), "utf8");

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

test("its commands lead from the credentials to an acknowledged delivery", async () => {
  const blocks = [...readme.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block as string);
  expect(blocks.length).toBeGreaterThan(3);
  expect(blocks[0]).toContain("./data/credentials.json");
  const script = blocks.join("").replaceAll("./data", server.dataDir);
  const { code, output } = await shell(script, { cwd: ROOT });
  expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('"acknowledged":1') });
  expect(output).toContain('"status":"accepted"');
  expect(output).toContain('"total":120');
});

test("its table of settings is the present one", () => {
  expect(withSettings(readme)).toBe(readme);
});
