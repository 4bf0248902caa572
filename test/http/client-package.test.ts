import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { startServer, type TestServer } from "../support/server.ts";

const ROOT = join(import.meta.dirname, "../..");
let server: TestServer;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "afferent-package-"));
  const tsc = join(ROOT, "node_modules/.bin/tsc");
  execFileSync(tsc, ["-p", "client", "--outDir", join(folder, "dist")], { cwd: ROOT });
  server = await startServer();
});

afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server.stop();
});

/** The oldest Node on this machine that the package promises to run on. */
function oldestNode(): string {
  const found = ["/usr/bin/node", "/usr/local/bin/node"].filter((file) => existsSync(file));
  const fits = found.filter(
    (file) => Number(execFileSync(file, ["-p", "process.versions.node"]).toString().split(".")[0]) >= 20,
  );
  return fits[0] ?? process.execPath;
}

test("the built package has what package.json names, and depends on nothing", () => {
  const manifest = JSON.parse(readFileSync(join(ROOT, "client/package.json"), "utf8"));
  const { types, default: main } = manifest.exports["."];
  for (const file of [types, main, manifest.bin.afferent])
    expect([file, existsSync(join(folder, file))]).toEqual([file, true]);
  expect(manifest.dependencies).toBeUndefined();
  expect(manifest.version).toBe(JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).version);
});

test("it runs on the Node of this machine, from publish to acknowledgement", () => {
  const script = `
    const { createClient } = await import(${JSON.stringify(join(folder, "dist/index.js"))});
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
  const out = execFileSync(oldestNode(), ["--input-type=module", "-e", script], { timeout: 20_000 });
  expect(out.toString()).toBe("com.example.thing\n0\n");
});

test("its command line runs there too", () => {
  const env = { AFFERENT_URL: server.url, AFFERENT_API_KEY: server.credentials.agent.api_key, HOME: folder };
  const out = execFileSync(oldestNode(), [join(folder, "dist/cli.js"), "doctor"], { env, cwd: folder });
  expect(out.toString()).toContain("✓ key");
});
