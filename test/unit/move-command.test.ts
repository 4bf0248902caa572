import { chmod, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "@jest/globals";
import { ArchiveWriter, readArchive } from "../../bin/admin/archive.ts";
import { MOVE_COMMANDS } from "../../bin/admin/move.ts";
import { openOnline } from "../../bin/admin/online.ts";
import type { Target } from "../../bin/admin/typed.ts";
import { exportTenantContent, importTenantRows } from "../../services/identity/tenants/moving.contract.ts";
import { updateTenant } from "../../services/identity/tenants/tenants.contract.ts";
import { ownFolder } from "../support/own-folder.ts";
import { serving } from "../support/serving.ts";

let folder: string;
const file = (name: string) => join(folder, name);

beforeEach(async () => {
  folder = await ownFolder();
});

test("an archive is a new file that only its owner may read, whatever was there", async () => {
  await writeFile(file("another"), "another");
  await chmod(file("another"), 0o644);
  await symlink(file("another"), file("link.tar.new"));
  await writeFile(file("open.tar.new"), "of a run that was cut off");
  await chmod(file("open.tar.new"), 0o666);
  for (const name of ["link.tar", "open.tar"]) {
    const archive = await ArchiveWriter.create(file(name));
    await archive.add("a", Buffer.from("content"));
    await archive.end();
    const { mode } = await stat(file(name));
    const entries = await Array.fromAsync(readArchive(file(name)));
    expect([mode & 0o777, entries.map(({ path }) => path)]).toEqual([0o600, ["a"]]);
  }
  expect(await readFile(file("another"), "utf8")).toBe("another");
});

test("an export that fails leaves no file", async () => {
  const target: Target = {
    async call({ action }) {
      if (action === "tenants.list") return { tenants: [{ id: "tn_1", slug: "acme" }] };
      if (action === "tenants.export") return { tenant: { id: "tn_1" }, collections: ["agents"] };
      throw new Error("cut off");
    },
    close: async () => {},
  };
  const typed = { words: ["acme", file("a.tar")], options: {}, flags: new Set<string>() };
  Object.assign(typed.options, { "without-secrets": "" });
  await expect(MOVE_COMMANDS["tenants export"]?.run(target, typed)).rejects.toThrow("cut off");
  expect(await readdir(folder)).toEqual([]);
});

/** Answers the first request with 503. */
async function restarting() {
  const keys: unknown[] = [];
  const { url, close } = await serving((req, res) => {
    keys.push(req.headers["idempotency-key"]);
    req.resume();
    const status = keys.length === 1 ? 503 : 200;
    res.writeHead(status, { "Content-Type": "application/json" });
    res.end(JSON.stringify(status === 200 ? { fine: true } : { error: { type: "service_unavailable" } }));
  });
  return { close, url: `${url}/v1`, keys };
}

test("a move survives a restart of the server, without a stored answer for each page", async () => {
  const config = { OPERATOR_TOKEN: "a token" } as never;
  const calls = [
    [exportTenantContent, { tenant_id: "tn_1", hash: "0".repeat(64) }, [undefined, undefined]],
    [importTenantRows, { tenant_id: "tn_1", collection: "agents", rows: "" }, [undefined, undefined]],
    // A change that is not repeatable is left to the operator.
    [updateTenant, { tenant_id: "tn_1", status: "active" }, [expect.any(String)]],
  ] as const;
  for (const [op, params, expected] of calls) {
    const { close, url, keys } = await restarting();
    await openOnline(url, config, {}, null)
      .call(op, params)
      .catch(() => {});
    await close();
    expect([op.action, keys]).toEqual([op.action, expected]);
  }
});
