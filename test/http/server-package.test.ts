import { execFileSync, spawnSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { startAlone } from "../support/alone.ts";
import { api } from "../support/http.ts";
import { oldestNode } from "../support/oldest-node.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";

const ROOT = join(import.meta.dirname, "../..");
const OPTIONAL = "sensorium-export";
const PARTS = ["sensorium-server", "sensorium-embedder-en", OPTIONAL];

/** The build, and each start of a server. */
const LONGEST_MS = 180_000;

const installed = (...path: string[]) => join(modules, ...path);
const manifestOf = (name: string) => JSON.parse(readFileSync(installed(name, "package.json"), "utf8"));

const folder = mkdtempSync(join(tmpdir(), "sensorium-server-package-"));
/** Where npm would put them: the packages as they are published, and what they depend on. */
const modules = join(folder, "node_modules");
execFileSync(process.execPath, [join(ROOT, "deploy/release/build.ts"), modules], { stdio: "pipe" });
const needed = PARTS.flatMap((name) => Object.keys(manifestOf(name).dependencies ?? {}));
for (const name of new Set(needed.filter((each) => !PARTS.includes(each)))) {
  mkdirSync(dirname(installed(name)), { recursive: true });
  symlinkSync(join(ROOT, "node_modules", name), installed(name));
}
renameSync(installed(OPTIONAL), join(folder, OPTIONAL));

const server = await startAlone({ root: installed("sensorium-server"), env: { OUTPUT_EXPORT: "true" } });

afterAll(async () => {
  await server?.stop();
  if (folder) rmSync(folder, { recursive: true });
});

test("it is JavaScript, without scripts that npm runs, and depends on the versions that were tested", () => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));
  for (const name of PARTS.slice(0, 2)) {
    expect(globSync("**/*.{ts,mts,tsx}", { cwd: installed(name) })).toEqual([]);
    const { dependencies = {}, scripts = {}, version } = manifestOf(name);
    expect(Object.keys(scripts).filter((each) => /install|prepare/.test(each))).toEqual([]);
    for (const [each, wanted] of Object.entries(dependencies))
      expect([each, wanted]).toEqual([each, packages[`node_modules/${each}`]?.version ?? version]);
  }
  expect(Object.keys(manifestOf("sensorium-server").dependencies)).not.toContain("pdfkit");
  expect(manifestOf("sensorium-server").peerDependenciesMeta).toEqual({ [OPTIONAL]: { optional: true } });
});

test("it names each package that it depends on or contains, with its license", () => {
  const text = readFileSync(installed("sensorium-server", "THIRD_PARTY_LICENSES"), "utf8");
  const { dependencies } = manifestOf("sensorium-server");
  const others = Object.keys(dependencies).filter((name) => !PARTS.includes(name));
  const contained = ["react-dom", "@opentelemetry/sdk-trace", "swagger-ui-dist"];
  for (const name of [...others, ...contained])
    expect(text).toMatch(new RegExp(`^${name} \\d\\S+ \\(.+\\)$`, "m"));
  expect(text).not.toMatch(/^(pdfkit|vite|jest) /m);
  const exported = readFileSync(join(folder, OPTIONAL, "THIRD_PARTY_LICENSES"), "utf8");
  expect(exported).toMatch(/^pdfkit \S+ \(MIT\)$/m);
});

test("it serves the console and the page of the API", async () => {
  for (const path of ["/", "/docs", "/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js", "/openapi.json"]) {
    const { status } = await fetch(server.root + path, { headers: { accept: "text/html" } });
    expect([path, status]).toEqual([path, 200]);
  }
});

test("it delivers events, and finds memories in other words", async () => {
  const { id, api_key } = server.credentials.agent;
  const agent = api(server, api_key);
  ok(await agent.post(`/agents/${id}/interests`, { event_type: "com.example.*" }));
  const event = { specversion: "1.0", id: "1", type: "com.example.thing", source: "urn:test" };
  expect(await agent.post("/events", event)).toMatchObject({ status: 202 });
  const { body } = await agent.get("/delivery/poll?wait=30");
  expect(body.deliveries).toMatchObject([{ payload: { type: "com.example.thing" } }]);
  const content = "The staging database is wiped every night";
  ok(await agent.post("/memories", { title: "Staging", content, type: "semantic", scope: "agent" }));
  const query = "when is the test environment reset";
  await settle(async () => {
    const { body } = await agent.post("/memories/search", { query });
    return body.results[0]?.memory.content === content;
  });
});

test(
  "it exports as PDF and DOCX once the optional package is installed, and says so before",
  async () => {
    const { agent, admin } = server.credentials;
    const saved = await api(server, agent.api_key).post("/outputs", {
      body: "# Report\n\nDone.",
      scope: "institutional",
    });
    const signIn = await api(server).post("/auth/login", { email: admin.email, password: admin.password });
    const authorization = `Bearer ${signIn.body.access_token}`;
    const download = (format: string) =>
      fetch(`${server.url}/outputs/${saved.body.id}/export?format=${format}`, { headers: { authorization } });
    await settle(() => server.logs().includes("sensorium-export is not installed"));
    for (const format of ["pdf", "docx"]) {
      const refused = await download(format);
      expect([refused.status, await refused.text()]).toEqual([
        503,
        expect.stringContaining("install the package sensorium-export"),
      ]);
    }
    expect((await download("html")).status).toBe(200);
    renameSync(join(folder, OPTIONAL), installed(OPTIONAL));
    await server.restart();
    for (const [format, begin] of Object.entries({ pdf: "%PDF-", docx: "PK" })) {
      const file = await download(format);
      expect([file.status, (await file.text()).slice(0, begin.length)]).toEqual([200, begin]);
    }
  },
  LONGEST_MS,
);

test(
  "its command starts it, runs the operator's commands, and says which Node it needs",
  async () => {
    await server.end();
    const run = (node: string, ...args: string[]) => {
      const command = installed("sensorium-server", manifestOf("sensorium-server").bin["sensorium-server"]);
      const env = { PATH: process.env.PATH, HOME: folder, DATA_DIR: server.dataDir };
      const { status, stdout, stderr } = spawnSync(node, [command, ...args], {
        ...{ cwd: folder, env, encoding: "utf8" },
      });
      return { status, output: stdout + stderr };
    };
    const { version } = manifestOf("sensorium-server");
    expect(run(process.execPath, "--version")).toEqual({ status: 0, output: `${version}\n` });
    expect(run(process.execPath, "admin", "tenants", "list").output).toContain('"slug": "default"');
    expect(run(process.execPath, "start").output).toMatch(/^"start" is not a command\.[\s\S]*Usage: /);
    const oldest = oldestNode();
    if (oldest === process.execPath) return;
    expect(run(oldest)).toEqual({
      status: 1,
      output: expect.stringMatching(/needs Node 24\.\d+ or newer[\s\S]*\nInstall it: /),
    });
  },
  LONGEST_MS,
);
