import { spawn } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "@jest/globals";
import { create } from "tar";
import { backUp, restore } from "../../storage/backup.ts";
import { computeHash } from "../../storage/blobs/blobs.ts";
import { DirectoryError } from "../../storage/data-directory.ts";
import { agentToken, api } from "../support/http.ts";
import { ownFolder } from "../support/own-folder.ts";
import { startServer } from "../support/server.ts";
import { useServer } from "../support/use.ts";

const ROOT = join(import.meta.dirname, "../..");
const ENV = { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" };
const scratch = await ownFolder();
const server = await useServer({ env: ENV });

/** Runs `npm run backup`, or another command for data folders, as npm would. */
function npmRun(command: "backup" | "restore" | "check" | "salvage", path: string | null, dataDir: string) {
  const { PATH = "" } = process.env;
  const child = spawn(process.execPath, ["bin/server.js", command, ...(path === null ? [] : [path])], {
    ...{ cwd: ROOT, env: { PATH, DATA_DIR: dataDir }, stdio: ["ignore", "pipe", "pipe"] },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
  return new Promise<{ code: number | null; output: string }>((resolve) =>
    child.once("close", (code) => resolve({ code, output })),
  );
}

const newFolder = () => mkdtemp(join(scratch, "data-"));

const EVENT = { specversion: "1.0", source: "/backup" };
/** Publishes until stopped; returns the accepted ids. */
function publishing(token: string): { accepted: string[]; stop(): Promise<void> } {
  const accepted: string[] = [];
  let going = true;
  const run = async () => {
    for (let n = 0; going; n++) {
      const event = { ...EVENT, id: `live-${n}`, type: "com.example.live", data: { n } };
      const { status, body } = await api(server, token).post("/events", event);
      if (status === 202) accepted.push(body.event_id);
    }
  };
  const running = run();
  return {
    accepted,
    stop() {
      going = false;
      return running;
    },
  };
}

test("everything accepted before a backup under load exists after its restore", async () => {
  const { agent, admin } = server.credentials;
  const token = await agentToken(server, agent.api_key);
  const http = api(server, token);
  const interest = await http.post(`/agents/${agent.id}/interests`, { event_type: "com.example.*" });
  expect(interest.status).toBe(201);
  const blob = join("blobs/ab", await computeHash(Buffer.from("a blob")));
  await mkdir(join(server.dataDir, "blobs/ab"), { recursive: true });
  await writeFile(join(server.dataDir, blob), "a blob");

  const load = publishing(token);
  const file = join(scratch, "under-load.sensorium");
  const once = { ...EVENT, id: "before", type: "com.example.before" };
  await http.post("/events", once);
  const before = [...load.accepted];
  const made = await npmRun("backup", file, server.dataDir);
  await load.stop();
  expect(made).toMatchObject({ code: 0 });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readdir(scratch)).toEqual(["under-load.sensorium"]);

  expect(await npmRun("check", null, server.dataDir)).toEqual({
    code: 0,
    output: expect.stringMatching(/\bevents +\d+ readable\n.*is whole\.\n$/s),
  });

  const dataDir = join(await newFolder(), "salvaged");
  const folder = await newFolder();
  expect(await npmRun("restore", file, folder)).toMatchObject({ code: 0 });
  // A server runs on what is salvaged as on what was restored.
  expect(await npmRun("salvage", dataDir, folder)).toMatchObject({ code: 0 });
  expect(await readFile(join(dataDir, blob), "utf8")).toBe("a blob");
  expect((await stat(join(dataDir, "secret.key"))).mode & 0o777).toBe(0o600);
  await using restored = await startServer({ dataDir, env: ENV });
  expect(restored.credentials.agent).toEqual(agent);
  expect((await api(restored).post("/auth/login", admin)).status).toBe(200);
  const there = api(restored, await agentToken(restored, agent.api_key));
  const { body } = await there.get(`/agents/${agent.id}/interests`);
  expect(JSON.stringify(body)).toContain(interest.body.id);
  for (const id of before) expect((await there.get(`/events/${id}`)).status).toBe(200);
  // The token of the first server is good here: the key that signs tokens came along, and opens.
  expect((await api(restored, token).get("/auth/me")).status).toBe(200);
  expect((await there.post("/events", once)).body.status).toBe("duplicate");
});

test("a backup is made while a tenant's blobs are being erased, with those that are left", async () => {
  const dataDir = await newFolder();
  new DatabaseSync(join(dataDir, "sensorium.db")).close();
  const names = Array.from({ length: 50 }, (_, n) => `tenant-${n}`);
  for (const name of names) {
    await mkdir(join(dataDir, "blobs", name), { recursive: true });
    await writeFile(join(dataDir, "blobs", name, "blob"), name);
  }
  const file = join(scratch, "erased.sensorium");
  const backup = backUp(dataDir, file);
  const copied = () =>
    readdirSync(scratch).some(
      (each) => each.startsWith("erased.") && existsSync(join(scratch, each, "blobs/tenant-0")),
    );
  while (!copied()) await setImmediate();
  // All but one at once: some have been read by now, some are known by name only.
  for (const name of names.slice(0, -1)) rmSync(join(dataDir, "blobs", name), { recursive: true });
  await backup;
  const restored = await newFolder();
  await restore(file, restored);
  expect(await readFile(join(restored, "blobs/tenant-49/blob"), "utf8")).toBe("tenant-49");
});

describe("refused", () => {
  /** The command prints the error's message alone. */
  const refuses = async (attempt: Promise<unknown>, line: RegExp) => {
    const error = await attempt.catch((err: Error) => err);
    expect(error).toBeInstanceOf(DirectoryError);
    expect(error).toMatchObject({ message: expect.stringMatching(line) });
  };

  test("a backup onto an existing file, and into or of a folder that cannot be", async () => {
    const file = join(await newFolder(), "there");
    await writeFile(file, "precious");
    await refuses(
      backUp(server.dataDir, file),
      new RegExp(`^${file} already exists. Give a new file name.$`),
    );
    expect(await readFile(file, "utf8")).toBe("precious");
    const usage = "Usage: sensorium-server backup FILE; in a checkout npm run backup -- FILE\n";
    expect(await npmRun("backup", "--help", server.dataDir)).toEqual({ code: 1, output: usage });
    const nowhere = "/no/such/folder/backup";
    await refuses(
      backUp(server.dataDir, nowhere),
      /^\/no\/such\/folder\/backup cannot be created: ENOENT: .*$/,
    );
    const dataDir = await newFolder();
    const none = new RegExp(
      `^${dataDir} contains no embedded store. Set DATA_DIR to the server's data directory.$`,
    );
    await refuses(backUp(dataDir, join(scratch, "none")), none);
  });

  test("a restore into a folder that is not empty, which stays as it is", async () => {
    const file = join(await newFolder(), "whole");
    await backUp(server.dataDir, file);
    const dataDir = await newFolder();
    await writeFile(join(dataDir, "sensorium.db"), "precious");
    const line = new RegExp(
      `^DATA_DIR ${dataDir} is not empty \\(it contains sensorium.db\\). Give an empty one.$`,
    );
    await refuses(restore(file, dataDir), line);
    expect(await readFile(join(dataDir, "sensorium.db"), "utf8")).toBe("precious");
  });

  /** Makes an archive of these files. */
  const packed = (files: Record<string, string>) => async (file: string) => {
    const cwd = await newFolder();
    for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text);
    await create({ file, cwd, gzip: true }, Object.keys(files));
  };
  test.each<[string, (file: string) => Promise<void>, RegExp]>([
    ["a missing file", async () => {}, /^There is no file/],
    ["a file that is none", (file) => writeFile(file, "hello"), /is not a complete backup|is not a backup/],
    [
      "a backup cut off in the middle",
      async (file) => {
        await backUp(server.dataDir, file);
        await truncate(file, Math.floor((await stat(file)).size / 2));
      },
      /is not a complete backup/,
    ],
    [
      "an archive of other things",
      packed({ "notes.txt": "hello" }),
      /is not a backup of Sensorium: it contains notes\.txt/,
    ],
    [
      "a backup of a newer program",
      packed({ "manifest.json": '{"format":99}' }),
      /was created by a newer Sensorium \(format 99, /,
    ],
    [
      "a backup without a database",
      packed({ "manifest.json": '{"format":1}', "secret.key": "key" }),
      /is not a complete backup: it lacks the database \(sensorium\.db\)/,
    ],
  ])("a restore of %s, and nothing is left behind", async (_what, make, line) => {
    const file = join(await newFolder(), "file");
    await make(file);
    const dataDir = await newFolder();
    for (const folder of [dataDir, join(dataDir, "absent")]) await refuses(restore(file, folder), line);
    expect(await readdir(dataDir)).toEqual([]);
  });
});
