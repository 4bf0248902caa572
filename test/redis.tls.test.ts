/** @needs redis: it is reached over TLS, and only if its certificate is trusted. */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { newCertificate } from "./support/certificate.ts";
import { agentToken, api } from "./support/http.ts";
import { onPath } from "./support/needs.ts";
import { ownFolder } from "./support/own-folder.ts";
import { freePort } from "./support/ports.ts";
import { type RedisServer, startRedis } from "./support/redis.ts";
import { startServer, type TestServer } from "./support/server.ts";
import { settle } from "./support/settle.ts";

const LIMIT = 5;
const PASSWORD = "p@ss:word";
const run = promisify(execFile);

(onPath("redis-server") && onPath("redis-cli") ? describe : describe.skip)("a Redis with TLS alone", () => {
  let folder: string;
  let server: TestServer | undefined;
  const opened: RedisServer[] = [];
  const file = (name: string) => join(folder, name);

  beforeAll(async () => {
    folder = await ownFolder();
    const { cert, key } = newCertificate();
    for (const name of ["cert.pem", "ca-cert.pem"]) await writeFile(file(name), cert);
    await writeFile(file("key.pem"), key);
  });
  afterAll(async () => {
    await server?.stop();
    for (const redis of opened) await redis.stop();
  });

  /** Starts a Redis, and returns its port. */
  async function startTls(...more: string[]): Promise<number> {
    const port = await freePort();
    const tls = ["--port", "0", "--tls-port", String(port), "--tls-auth-clients", "no"];
    const files = ["cert", "ca-cert", "key"].flatMap((of) => [`--tls-${of}-file`, file(`${of}.pem`)]);
    opened.push(await startRedis([...tls, ...files, "--requirepass", PASSWORD, ...more], port));
    return port;
  }

  async function cli(port: number, ...command: string[]): Promise<string> {
    const address = ["-h", "localhost", "-p", String(port), "--tls", "--cacert", file("cert.pem")];
    const env = { ...process.env, REDISCLI_AUTH: PASSWORD };
    return (await run("redis-cli", [...address, ...command], { env })).stdout;
  }

  /** Starts a server that uses it. @param kind of the address: `rediss`, with `+cluster` or without */
  async function use(kind: string, port: number, env: Record<string, string> = {}): Promise<TestServer> {
    await server?.stop();
    const REDIS_URL = `${kind}://:${encodeURIComponent(PASSWORD)}@localhost:${port}`;
    server = await startServer({ env: { REDIS_URL, RATE_LIMIT_PER_MINUTE: String(LIMIT), ...env } });
    return server;
  }

  /** Waits until the server uses it, and then lets an agent reach its limit. */
  async function counts(one: TestServer, port: number): Promise<void> {
    const readyz = async () => (await api(one).get(`${one.root}/readyz`)).body;
    await settle(async () => (await readyz()).checks.redis === "ok");
    const agent = api(one, await agentToken(one, one.credentials.agent.api_key));
    const statuses = [];
    for (let i = 0; i <= LIMIT; i++) statuses.push((await agent.get("/auth/me")).status);
    expect(statuses.at(-1)).toBe(429);
    expect(Number(await cli(port, "dbsize"))).toBeGreaterThan(0);
  }

  test("counts limits, with a password", async () => {
    const port = await startTls();
    await counts(await use("rediss", port, { NODE_EXTRA_CA_CERTS: file("cert.pem") }), port);
  });

  test("does so as a Cluster, whose nodes are known by their host names", async () => {
    const names = [
      ...["--cluster-announce-hostname", "localhost", "--cluster-preferred-endpoint-type", "hostname"],
    ];
    const port = await startTls("--cluster-enabled", "yes", "--tls-cluster", "yes", ...names);
    await cli(port, "cluster", "addslotsrange", "0", "16383");
    await counts(await use("rediss+cluster", port, { NODE_EXTRA_CA_CERTS: file("cert.pem") }), port);
  });

  test("is not used if its certificate is unknown, which the log says", async () => {
    const one = await use("rediss", await startTls());
    await settle(() => /self.signed certificate/.test(one.logs()));
    expect((await api(one).get(`${one.root}/readyz`)).body.checks.redis).not.toBe("ok");
    expect(one.logs()).not.toContain(PASSWORD);
  });
});
