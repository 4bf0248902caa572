import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
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

const powerWent = () => new Error("the power went");

/** Fails an action when it is called for the nth time, before or after it did its work. */
function breaking(at: number, moment: "before" | "after", failure: () => Error = powerWent): Middleware {
  let calls = 0;
  return {
    name: "breaking",
    localAction: (next: (ctx: Context) => Promise<unknown>) => async (ctx: Context) => {
      const breaks = calls++ === at;
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

describe("the first start", () => {
  test.each(["before", "after"] as const)(
    "can end at any step (%s it): the next one finishes it",
    async (moment) => {
      let done = false;
      let steps = 0;
      for (; !done; steps++) {
        await rm(dataDir, { recursive: true });
        const attempt = onNode(start, [breaking(steps, moment)]);
        done = await attempt.then(
          () => true,
          (err: Error) => {
            expect(err.message).toBe("the power went");
            return false;
          },
        );
        await onNode(async (node) => {
          const shown = await start(node);
          expect(shown === null).toBe(done);
          expect(shown ?? (await kept())).toEqual(await kept());
          await expectGood(node, await kept());
        });
        expect(await readdir(dataDir)).not.toContain(".credentials.pending");
        expect((await stat(join(dataDir, "credentials.json"))).mode & 0o777).toBe(0o600);
      }
      expect(steps).toBeGreaterThan(4);
    },
  );

  test("goes on when a node goes away in it, and its services are there again", async () => {
    const gone = () => new Errors.RequestRejectedError({ action: "users.insert_first", nodeID: "worker" });
    for (const at of [0, 1, 2, 3]) {
      await rm(dataDir, { recursive: true });
      await onNode(
        async (node) => {
          expect(await start(node)).toEqual(await kept());
          await expectGood(node, await kept());
        },
        [breaking(at, "after", gone)],
      );
    }
  });

  test("that ended before the file had its name shows the same credentials again", async () => {
    await onNode(async (node) => {
      const first = (await start(node)) as Credentials;
      await writeFile(join(dataDir, ".credentials.pending"), JSON.stringify(first));
      await rm(join(dataDir, "credentials.json"));
      expect(await start(node)).toEqual(first);
      await expectGood(node, await kept());
    });
  });
});

describe("a later start", () => {
  test("changes only the addresses", async () => {
    await onNode(async (node) => {
      const first = await start(node, 3000);
      expect(await start(node, 4000)).toBeNull();
      const base_url = "http://127.0.0.1:4000/v1";
      expect(await kept()).toEqual({ ...first, base_url, ingest_url: "http://127.0.0.1:4000" });
      expect((await stat(join(dataDir, "credentials.json"))).mode & 0o777).toBe(0o600);
    });
  });

  test("creates nothing if the file is gone, and does not touch an unreadable one", async () => {
    await onNode(async (node) => {
      await start(node);
      const file = join(dataDir, "credentials.json");
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

describe("two nodes that start at once on one record", () => {
  test("make one tenant, and only one of them shows credentials, which are good", async () => {
    const other = await ownFolder();
    await onNode(async (node) => {
      const config = { ...node.runtime.config, DATA_DIR: other };
      const elsewhere = { ...node, runtime: { ...node.runtime, config } };
      const shown = (await Promise.all([start(node), start(elsewhere)])).filter((each) => each !== null);
      expect(shown).toHaveLength(1);
      await expectGood(node, shown[0] as Credentials);
    });
    expect([...(await readdir(dataDir)), ...(await readdir(other))]).not.toContain(".credentials.pending");
  });

  test("agree on one key for tokens", async () => {
    await onNode(async ({ runtime: { store, secrets } }) => {
      await store.collection(SigningKeyModel).system.deleteMany({});
      const opened = [1, 2, 3, 4].map(() => new SigningKeys(store, secrets));
      await Promise.all(opened.map((keys) => keys.load()));
      expect(new Set(opened.map((keys) => keys.signer(store.now()).jwk.kid)).size).toBe(1);
    });
  });
});
