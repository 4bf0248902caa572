import { readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { type Context, Errors, type Middleware } from "moleculer";
import { SigningKeyModel } from "../../services/identity/auth/auth.model.ts";
import { SigningKeys } from "../../services/identity/auth/signing-keys.ts";
import { type Credentials, ensureFirstTenant } from "../../services/identity/tenants/first-start.ts";
import { startIdentity } from "../support/node.ts";
import { ownFolder } from "../support/own-folder.ts";

let dataDir: string;
beforeEach(async () => {
  dataDir = await ownFolder();
});

type Node = Awaited<ReturnType<typeof startIdentity>>;

const start = (node: Node, port = 3000) => {
  const ingestUrl = `http://127.0.0.1:${port}`;
  return ensureFirstTenant({ ...node, baseUrl: `${ingestUrl}/v1`, ingestUrl });
};

const kept = async () => JSON.parse(await readFile(join(dataDir, "credentials.json"), "utf8")) as Credentials;

async function onNode<T>(work: (node: Node) => Promise<T>, middlewares: Middleware[] = []): Promise<T> {
  const node = await startIdentity(dataDir, middlewares);
  try {
    return await work(node);
  } finally {
    await node.stop();
  }
}

/** Fails the first call of an action, before or after it does its work. */
function breaking(action: string, moment: "before" | "after", failure: () => Error): Middleware {
  let isOver = false;
  return {
    name: "breaking",
    localAction:
      (next: (ctx: Context) => Promise<unknown>, { name }: { name: string }) =>
      async (ctx: Context) => {
        const breaks = name === action && !isOver;
        if (breaks) isOver = true;
        if (breaks && moment === "before") throw failure();
        const result = await next(ctx);
        if (breaks) throw failure();
        return result;
      },
  } as unknown as Middleware;
}

async function expectGood({ broker }: Node, { admin, agent, tenant_id }: Credentials): Promise<void> {
  const answer = await broker.call("auth.token", { api_key: agent.api_key });
  expect(answer).toMatchObject({ agent: { id: agent.id, tenant_id } });
  expect(await broker.call("auth.login", admin)).toMatchObject({ user: { tenant_id, role: "admin" } });
  expect(await broker.call("tenants.list", {})).toMatchObject({ total: 1, tenants: [{ slug: "default" }] });
}

async function expectWritten(): Promise<void> {
  expect(await readdir(dataDir)).not.toContain(".credentials.pending");
  expect((await stat(join(dataDir, "credentials.json"))).mode & 0o777).toBe(0o600);
}

describe("the first start", () => {
  // What is stored before a call, the one before it has left.
  test.each([
    ["before", "tenants.found"],
    ["before", "users.insert_first"],
    ["before", "agents.insert_first"],
    ["before", "keys.insert_first"],
    ["after", "keys.insert_first"],
    ["after", "tenants.found"],
  ] as const)("can end %s %s: the next one finishes it", async (moment, action) => {
    const powerWent = breaking(action, moment, () => new Error("the power went"));
    await expect(onNode(start, [powerWent])).rejects.toThrow("the power went");
    await onNode(async (node) => {
      expect(await start(node)).toEqual(await kept());
      await expectGood(node, await kept());
    });
    await expectWritten();
  });

  test("goes on when a node goes away in it, and its services are there again", async () => {
    const action = "users.insert_first";
    const gone = () => new Errors.RequestRejectedError({ action, nodeID: "worker" });
    const check = async (node: Node) => {
      expect(await start(node)).toEqual(await kept());
      await expectGood(node, await kept());
    };
    await onNode(check, [breaking(action, "after", gone)]);
  });
});

describe("a later start", () => {
  test("changes only the addresses, finishes what was pending, and creates nothing else", async () => {
    await onNode(async (node) => {
      const first = await start(node, 3000);
      await expectWritten();
      expect(await start(node, 4000)).toBeNull();
      const base_url = "http://127.0.0.1:4000/v1";
      const moved = { ...first, base_url, ingest_url: "http://127.0.0.1:4000" };
      expect(await kept()).toEqual(moved);
      await expectWritten();
      // The start before ended before the file had its name: the same credentials are shown again.
      const file = join(dataDir, "credentials.json");
      await rename(file, join(dataDir, ".credentials.pending"));
      expect(await start(node, 4000)).toEqual(moved);
      await expectGood(node, await kept());
      await rm(file);
      expect(await start(node)).toBeNull();
      expect(await readdir(dataDir)).not.toContain("credentials.json");
      await writeFile(file, "{ notes of mine");
      expect(await start(node)).toBeNull();
      expect(await readFile(file, "utf8")).toBe("{ notes of mine");
    });
  });

  test("makes nothing on a store whose tenants were made otherwise", async () => {
    await onNode(async (node) => {
      await node.broker.call("tenants.create", { slug: "acme", name: "Acme", admin_email: "a@b.example" });
      expect(await start(node)).toBeNull();
      expect(await node.broker.call("tenants.list", {})).toMatchObject({ total: 1 });
    });
  });
});

test("two nodes that start at once on one record make one tenant and one key for tokens", async () => {
  const other = await ownFolder();
  await onNode(async (node) => {
    const config = { ...node.runtime.config, DATA_DIR: other };
    const elsewhere = { ...node, runtime: { ...node.runtime, config } };
    const shown = (await Promise.all([start(node), start(elsewhere)])).filter((each) => each !== null);
    // The other one has none to show.
    expect(shown).toHaveLength(1);
    await expectGood(node, shown[0] as Credentials);
    const { store, secrets } = node.runtime;
    await store.collection(SigningKeyModel).system.deleteMany({});
    const opened = [1, 2, 3, 4].map(() => new SigningKeys(store, secrets));
    await Promise.all(opened.map((keys) => keys.load()));
    expect(new Set(opened.map((keys) => keys.signer(store.now()).jwk.kid)).size).toBe(1);
  });
  expect([...(await readdir(dataDir)), ...(await readdir(other))]).not.toContain(".credentials.pending");
});
