/** Downloads of mongod, from a local imitation of MongoDB's host. */
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { create } from "tar";
import { download } from "../support/mongod.ts";
import { freePort } from "../support/ports.ts";

/** The library takes a small file for a download that broke off. */
const PADDING = "# as large as a program\n".repeat(100_000);

let folder: string;
let server: Server | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sensorium-mongod-"));
});
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(null)));
  server = undefined;
  await rm(folder, { recursive: true });
});

/** Tries a download of what answers so. */
async function downloaded(answer: RequestListener, silentMs?: number) {
  server = createServer(answer);
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  return fetched(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, silentMs);
}

function fetched(mirror: string, silentMs?: number) {
  const { PATH } = process.env;
  // A separate home: the library also looks into the user's.
  const env = { PATH, HOME: folder, MONGOMS_DOWNLOAD_MIRROR: mirror, MONGOMS_USE_HTTP: "true" };
  return download(() => {}, { env, folder: join(folder, "cache"), ...(silentMs && { silentMs }) });
}

/** A host whose archive has this script as its mongod. */
async function hostOf(script: string): Promise<RequestListener> {
  const bin = join(folder, "mongodb-7/bin");
  await mkdir(bin, { recursive: true });
  await writeFile(join(bin, "mongod"), `#!/bin/sh\n${script}\nexit\n${PADDING}`, { mode: 0o755 });
  const file = join(folder, "archive.tgz");
  await create({ file, cwd: folder, gzip: true }, ["mongodb-7"]);
  const archive = await readFile(file);
  const sum = `${createHash("md5").update(archive).digest("hex")}  archive\n`;
  return (req, res) => {
    const body = req.url?.endsWith(".md5") ? sum : archive;
    res.setHeader("Content-Length", body.length).end(req.method === "HEAD" ? undefined : body);
  };
}

test("caches a download, and finds it again without the host", async () => {
  const first = await downloaded(await hostOf("echo db version v7.0.28"));
  expect(first).toEqual({ path: expect.stringMatching(/mongod/) });
  expect(await readFile((first as { path: string }).path, "utf8")).toContain("v7.0.28");
  expect(await fetched(`http://127.0.0.1:${await freePort()}`)).toEqual(first);
});

test("rejects a binary that does not run here", async () => {
  const host = await hostOf("echo libcurl.so.4: cannot open shared object file >&2; exit 127");
  expect(await downloaded(host)).toEqual({
    why: "the mongod that was downloaded does not run: libcurl.so.4: cannot open shared object file",
  });
});

test("names an unreachable host", async () => {
  expect(await fetched(`http://127.0.0.1:${await freePort()}`)).toEqual({
    why: expect.stringMatching(/^127\.0\.0\.1:\d+ cannot be reached: .*ECONNREFUSED/),
  });
});

test("reports the answer of a host without this version", async () => {
  expect(await downloaded((_req, res) => res.writeHead(404).end())).toEqual({
    why: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/.*7\.0\.28\.tgz answers 404$/),
  });
});

test("a host that never answers is not waited for", async () => {
  expect(await downloaded(() => {})).toEqual({
    why: expect.stringMatching(/cannot be reached: .*timeout/),
  });
});

test("aborts a download that stalls", async () => {
  const stuck: RequestListener = (req, res) => {
    res.setHeader("Content-Length", 1_000_000);
    if (req.method === "HEAD") res.end();
    else res.write("some");
  };
  expect(await downloaded(stuck, 3000)).toEqual({ why: "the download brought nothing for 3 s" });
});

test("rejects a download with a wrong checksum", async () => {
  const honest = await hostOf("echo db version v7.0.28");
  const lying: RequestListener = (req, res) =>
    req.url?.endsWith(".md5") ? res.setHeader("Content-Length", 3).end("abc") : honest(req, res);
  expect(await downloaded(lying)).toEqual({ why: expect.stringMatching(/md5/i) });
});
