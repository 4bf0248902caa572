import { execFile } from "node:child_process";
import { cpSync, globSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { startAlone } from "../support/alone.ts";
import { api } from "../support/http.ts";
import { ownFolder } from "../support/own-folder.ts";
import { ok } from "../support/tenancy.ts";

const ROOT = join(import.meta.dirname, "../..");
const EXTENSIONS = globSync("extensions/*/extension.ts", { cwd: ROOT }).map(
  (file) => file.split("/")[1] as string,
);
/** Generating, types, lint and all unit tests. */
const LONGEST_MS = 900_000;
/** Folders that builds and runs make. */
const LEFT = ["node_modules", ".git", "data", "tmp", "dist"];

const run = promisify(execFile);

/** Copies the checkout. Its packages stay where they are, and are found from there. */
async function copied(): Promise<string> {
  const folder = join(await ownFolder(), "copy");
  cpSync(ROOT, folder, {
    recursive: true,
    filter: (path) => path === ROOT || !LEFT.includes(basename(path)),
  });
  for (const packages of globSync(["node_modules", "packages/*/node_modules"], { cwd: ROOT }))
    await run("cp", ["-al", join(ROOT, packages), join(folder, packages)]);
  return folder;
}

type Paths = Record<string, Record<string, { operationId?: string }>>;
const operationsIn = (folder: string): string[] => {
  const { paths } = JSON.parse(readFileSync(join(folder, "docs/openapi.json"), "utf8")) as { paths: Paths };
  return Object.values(paths).flatMap((path) =>
    Object.values(path).flatMap(({ operationId = [] }) => operationId),
  );
};

/** The operations that an extension's kit says who may call. */
async function operationsOf(name: string): Promise<number> {
  const file = join(ROOT, "extensions", name, "test/kit.ts");
  const { kit } = (await import(file).catch(() => ({ kit: {} }))) as { kit: { access?: string } };
  return (kit.access ?? "").split("\n").filter((line) => /^\w/.test(line)).length;
}

test.each(EXTENSIONS)(
  "without %s the rest is whole, and exactly its operations are gone",
  async (name) => {
    const folder = await copied();
    rmSync(join(folder, "extensions", name), { recursive: true });
    const npm = (...args: string[]) => run("npm", args, { cwd: folder, maxBuffer: 1e8 });
    await npm("run", "--silent", "openapi");
    const [before, after] = [operationsIn(ROOT), operationsIn(folder)];
    expect(after.filter((each) => !before.includes(each))).toEqual([]);
    expect(before.length - after.length).toBe(await operationsOf(name));
    await npm("run", "--silent", "lint");
    await npm("run", "--silent", "typecheck");
    await npm("run", "--silent", "jest", "--", "-w", "2", "test/unit", "extensions/.*/test/unit");
    await using server = await startAlone({ root: folder });
    const { agent } = server.credentials;
    const bearer = api(server, agent.api_key);
    expect(ok(await bearer.get("/limits")).extensions).toEqual(
      readdirSync(join(folder, "extensions"))
        .filter((each) => each !== name)
        .sort(),
    );
  },
  LONGEST_MS,
);
