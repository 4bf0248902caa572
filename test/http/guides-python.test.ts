/** @needs python: the program of docs/guides/receive.md. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { onPath } from "../support/needs.ts";
import { startServer, type TestServer } from "../support/server.ts";

const GUIDE = join(import.meta.dirname, "../../docs/guides/receive.md");

(onPath("python3") ? describe : describe.skip)("the Python program of the guide", () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.stop());

  test.each(["once", "and again"])("publishes, handles and acknowledges %s", async () => {
    const [, program] = /^```python\n(.*?)^```$/ms.exec(await readFile(GUIDE, "utf8")) ?? [];
    const { url, credentials, dataDir } = server;
    const env = { ...process.env, SENSORIUM_URL: url, SENSORIUM_API_KEY: credentials.agent.api_key };
    const options = { cwd: dataDir, env, timeout: 150_000 };
    const { stdout, stderr } = await promisify(execFile)("python3", ["-c", program as string], options);
    expect({ stdout, stderr }).toEqual({
      stdout: "handling com.example.report.filed {'pages': 3}\n",
      stderr: "",
    });
  });
});
