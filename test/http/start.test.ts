import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "@jest/globals";
import { openStore } from "../../storage/connection.ts";
import { ACCESS } from "../support/access-table.ts";
import { START } from "../support/alone.ts";
import { startChild } from "../support/child.ts";
import { damage } from "../support/damage.ts";
import { agentToken, api } from "../support/http.ts";
import { ownFolder } from "../support/own-folder.ts";
import { patience } from "../support/patience.ts";
import { freePort } from "../support/ports.ts";
import { startServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { OPERATOR_TOKEN } from "../support/tenancy.ts";
import { useServer } from "../support/use.ts";

const ROOT = join(import.meta.dirname, "../..");

const scratch = await ownFolder();

const newDataDir = () => mkdtemp(join(scratch, "data-"));

type Ended = { code: number | null; stdout: string; stderr: string };

/** Runs the server, for starts that are expected to end by themselves. */
function run(env: Record<string, string>): Promise<Ended> {
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn(process.execPath, START, {
    cwd: ROOT,
    env: { PATH, HOME, HOST: "127.0.0.1", PORT: "0", ...env },
    ...{ stdio: ["ignore", "pipe", "pipe"], timeout: 30_000 * patience(), killSignal: "SIGKILL" },
  });
  const ended: Ended = { code: null, stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text) => {
    ended.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    ended.stderr += text;
  });
  return new Promise((resolve) => child.once("close", (code) => resolve({ ...ended, code })));
}

test("a node that still waits for NATS stops on request, without an error", async () => {
  const [dataDir, nowhere] = [await newDataDir(), await freePort()];
  const { PATH = "", HOME = "" } = process.env;
  const at = { HOST: "127.0.0.1", PORT: "0", DATA_DIR: dataDir, NATS_URL: `nats://127.0.0.1:${nowhere}` };
  const child = await startChild(process.execPath, START, { cwd: ROOT, env: { PATH, HOME, ...at } });
  await child.find(/Connection is failed\. CONNECTION_REFUSED/);
  expect(await child.end("SIGTERM")).toMatchObject({ code: 0 });
  expect(child.output()).not.toMatch(/"err"/);
});

const server = await useServer();

describe("the first start", () => {
  test("says in one line where it is, shows the secrets once, and logs nothing", () => {
    const { admin, agent, base_url } = server.credentials;
    const lines = server.logs().trimEnd().split("\n");
    expect(lines).toHaveLength(4);
    expect(lines[3]).toContain(`Sensorium is ready: ${base_url}`);
    expect(server.logs()).toContain(admin.password);
    expect(server.logs()).toContain(agent.api_key);
  });

  test("keeps files that only the owner may read, wherever they stand", async () => {
    const entries = await readdir(server.dataDir, { recursive: true });
    expect(entries).toEqual(expect.arrayContaining(["sensorium.db", "sensorium.db-wal", "secret.key"]));
    for (const entry of entries) {
      const { mode } = await stat(join(server.dataDir, entry));
      expect([entry, mode & 0o077]).toEqual([entry, 0]);
    }
  });

  test("writes credentials", async () => {
    const { mode } = await stat(join(server.dataDir, "credentials.json"));
    expect(mode & 0o777).toBe(0o600);
    expect(server.credentials).toEqual({
      ...{ base_url: server.url, ingest_url: server.root, tenant_id: expect.stringMatching(/^tn_/) },
      tenant_slug: "default",
      admin: { email: expect.stringContaining("@"), password: expect.any(String) },
      agent: {
        id: expect.stringMatching(/^ag_/),
        api_key: expect.stringMatching(/^ak_live_[A-Za-z0-9]{32}$/),
      },
    });
  });

  test("the agent's key and the admin's password are good", async () => {
    const { admin, agent } = server.credentials;
    const token = await agentToken(server, agent.api_key);
    expect((await api(server, token).get("/auth/me")).status).toBe(200);
    expect((await api(server).post("/auth/login", admin)).status).toBe(200);
  });

  test("a second process on its data directory ends, and it goes on", async () => {
    const { code, stdout, stderr } = await run({ DATA_DIR: server.dataDir });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(
      new RegExp(`^DATA_DIR [^\n]* is in use by another process \\(pid ${server.pid()}\\)[^\n]*\n$`),
    );
    expect(await agentToken(server, server.credentials.agent.api_key)).toBeTruthy();
  });

  test("SIGTERM answers a waiting poll empty, closes a stream and exits 0", async () => {
    const token = await agentToken(server, server.credentials.agent.api_key);
    const headers = { authorization: `Bearer ${token}` };
    const poll = api(server, token).get("/delivery/poll?wait=30");
    const stream = await fetch(`${server.url}/delivery/stream`, { headers });
    expect(stream.status).toBe(200);
    const streamed = stream.text();
    // The poll, the stream and the request that asks.
    await settle(async () => /^sensorium_http_requests_in_flight 3$/m.test(await server.metrics()));
    await server.restart(); // SIGTERM, and an error unless it exits with 0
    expect(await poll).toMatchObject({ status: 200, body: { deliveries: [], count: 0 } });
    await streamed;
  });

  test("the second start shows nothing secret and keeps the credentials", async () => {
    const { agent, admin } = server.credentials;
    expect(server.logs().trimEnd().split("\n")).toHaveLength(1);
    expect(server.logs()).toContain("Sensorium is ready");
    expect(server.logs()).not.toContain(agent.api_key);
    expect(server.logs()).not.toContain(admin.password);
    expect(await agentToken(server, agent.api_key)).toBeTruthy();
  });

  test("has no routes for the operator without OPERATOR_TOKEN", async () => {
    for (const { method, path } of ACCESS.filter(({ who }) => who === "operator"))
      for (const token of ["", OPERATOR_TOKEN]) {
        const headers = { authorization: `Bearer ${token}` };
        const url = server.root + path.replace("{tenant_id}", server.credentials.tenant_id);
        const answer = await fetch(url, { method, headers });
        const { error } = (await answer.json()) as { error: { code: string } };
        expect([path, answer.status, error.code]).toEqual([path, 404, "not_found"]);
      }
  });
});

describe("a start that cannot be", () => {
  test("a setting that is malformed, which is not repeated: one line and exit 1", async () => {
    const ended = await run({ DATA_DIR: await newDataDir(), SECRET_KEY: "c2hvcnQ=" });
    expect(ended).toEqual({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^SECRET_KEY is malformed: .*\n$/),
    });
    expect(ended.stderr).not.toContain("c2hvcnQ=");
  });

  const store = async (fill: (database: DatabaseSync) => void) => {
    const dataDir = await newDataDir();
    await (await openStore({ DATA_DIR: dataDir, MONGO_URL: null })).close();
    const database = new DatabaseSync(join(dataDir, "sensorium.db"));
    fill(database);
    database.close();
    return dataDir;
  };

  test("a database without a tenant, with the credentials of one", async () => {
    const dataDir = await store(() => {});
    const credentials = { tenant_id: "tn_lost", agent: { api_key: "k" }, admin: { password: "p" } };
    await writeFile(join(dataDir, "credentials.json"), JSON.stringify(credentials));
    const { code, stderr } = await run({ DATA_DIR: dataDir });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^DATA_DIR [^\n]* has no tenant: its data is lost[^\n]*sensorium-server restore FILE[^\n]*\n$/,
    );
    expect(JSON.parse(await readFile(join(dataDir, "credentials.json"), "utf8"))).toEqual(credentials);
  });

  test("a database with damaged pages", async () => {
    let root = 0;
    const dataDir = await store((database) => {
      const found = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = '_collections'").get();
      root = found?.rootpage as number;
    });
    await damage(join(dataDir, "sensorium.db"), (page) => page === root);
    const { code, stderr } = await run({ DATA_DIR: dataDir });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^The database in DATA_DIR is damaged [^\n]*sensorium-server check[^\n]*\n$/);
  });

  test("a port in use", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await new Promise((done) => other.once("listening", done));
    const { port } = other.address() as { port: number };
    const { code, stdout, stderr } = await run({ DATA_DIR: await newDataDir(), PORT: String(port) });
    await new Promise((done) => other.close(done));
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(new RegExp(`^Port ${port} on 127.0.0.1 is in use[^\n]*\n$`));
  });
});

test("a node is ready when the credentials are there, and SIGTERM to npm ends what npm started", async () => {
  const { PATH = "", HOME = "" } = process.env;
  const [dataDir, port] = [await newDataDir(), await freePort()];
  const at = { HOST: "127.0.0.1", PORT: String(port), DATA_DIR: dataDir };
  // In a separate process group: a server that survives can be killed with it.
  const npm = await startChild("npm", ["start"], { cwd: ROOT, env: { PATH, HOME, ...at }, detached: true });
  try {
    const url = `http://127.0.0.1:${port}`;
    const isReady = () =>
      fetch(`${url}/readyz`).then(
        ({ status }) => status === 200,
        () => false,
      );
    await settle(isReady, { every: 5 });
    const { agent } = JSON.parse(await readFile(join(dataDir, "credentials.json"), "utf8"));
    expect(await agentToken({ url: `${url}/v1` }, agent.api_key)).toMatch(/^ey/);
    // With its output closed: nobody holds it any more. A shell between npm and the server would end alone.
    expect(await npm.end("SIGTERM")).toMatchObject({ code: 0 });
    await expect(fetch(`http://127.0.0.1:${at.PORT}/healthz`)).rejects.toThrow();
  } finally {
    endGroup(npm.pid);
  }
});

function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code !== "ESRCH") throw err;
  }
}

test("the start after first ones that were killed has working credentials, though its log cannot be written", async () => {
  const dataDir = await newDataDir();
  const { PATH = "", HOME = "" } = process.env;
  const at = { HOST: "127.0.0.1", PORT: "0", DATA_DIR: dataDir };
  // In the order in which it writes them: each start finds what the killed one before it left.
  for (const written of ["sensorium.db", ".credentials.pending"]) {
    const child = await startChild(process.execPath, START, { cwd: ROOT, env: { PATH, HOME, ...at } });
    const isWritten = () => existsSync(join(dataDir, written));
    await settle(() => isWritten() || existsSync(join(dataDir, "credentials.json")), { every: 1 });
    await child.end("SIGKILL");
  }
  await using server = await startServer({
    dataDir,
    // Its log is open for reading only, as good as a file on a full disk.
    under: ["sh", "-c", 'exec "$@" 2</dev/null', "sh"],
    env: { LOG_LEVEL: "trace" },
  });
  const { admin, agent } = server.credentials;
  expect(await agentToken(server, agent.api_key)).toBeTruthy();
  expect((await api(server).post("/auth/login", admin)).status).toBe(200);
  for (let n = 0; n < 5; n++) expect((await api(server).get("/auth/me")).status).toBe(401);
});
