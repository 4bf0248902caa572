import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { run, runProcess } from "../support/admin.ts";
import { startAlone } from "../support/alone.ts";
import { holdings } from "../support/holdings.ts";
import { agentToken, api } from "../support/http.ts";
import { ownFolder } from "../support/own-folder.ts";
import type { TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { startShared } from "../support/shared.ts";
import { kindsOfIds, makeWorld, OPERATOR_TOKEN, ok, signIn, type World } from "../support/tenancy.ts";
import { codeOf } from "../support/totp.ts";

export const ENV = { OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" };
/** Codes of devices are for minutes, and a session is the installation's. */
const NOT_MOVED = ["devices.status", "auth.session"];
/** More than one part of a content. */
const LARGE = `# Large\n\n${"All of it arrives. ".repeat(60_000)}`;

/** A folder with a passphrase, and the command line. */
export async function makeMover() {
  const scratch = await ownFolder();
  const file = (name: string) => join(scratch, name);
  await writeFile(file("passphrase"), "correct horse battery\n");
  const done = async ({ code, output, result }: Awaited<ReturnType<typeof run>>) => {
    if (code !== 0) throw new Error(output);
    return result;
  };
  /** Through a running server; without one the command opens the store itself, in a process. */
  const admin = (dataDir: string, command: string) => run(dataDir, command, { OPERATOR_TOKEN });
  const offline = (dataDir: string, command: string) => runProcess(dataDir, command, { OPERATOR_TOKEN });
  return {
    ...{ file, secret: `--passphrase-file ${file("passphrase")}`, admin, offline },
    done: async (dataDir: string, command: string) => done(await admin(dataDir, command)),
    /** As `done`, where the server is shared and its folder unknown. */
    doneAt: async ({ root }: TestServer, command: string) =>
      done(await admin(scratch, `${command} --url ${root}`)),
    doneOffline: async (dataDir: string, command: string) => done(await offline(dataDir, command)),
  };
}

/** A tenant's callers on another server: everything they know still holds. */
export async function worldOn(server: TestServer, world: World, slug = world.slug): Promise<World> {
  const adminToken = await signIn(server, world.credentials, slug);
  const token = await agentToken(server, world.apiKey);
  const [admin, agent] = [api(server, adminToken), api(server, token)];
  return { ...world, root: server.root, slug, admin, adminToken, agent, agentToken: token };
}

/** Starts a server, always alone, on an imported embedded store, which has no first start and so no credentials. */
async function startOn(dataDir: string, world: World, tenant_slug = world.slug): Promise<TestServer> {
  const { tenant_id, credentials: admin, agentId: id, apiKey: api_key } = world;
  const addresses = { base_url: "", ingest_url: "" };
  const credentials = { ...addresses, tenant_id, tenant_slug, admin, agent: { id, api_key } };
  await writeFile(join(dataDir, "credentials.json"), JSON.stringify(credentials));
  return startAlone({ env: ENV, dataDir });
}

/** All that a tenant's callers can read, whatever the address of the server. */
async function everything(world: World): Promise<unknown> {
  const found = await holdings(world);
  for (const name of NOT_MOVED) delete found[name];
  return JSON.parse(JSON.stringify(found).replaceAll(world.root, "ORIGIN"));
}

/** Each test starts several processes. */
jest.setTimeout(240_000);

/** Moves a tenant with one of everything from an embedded store to another installation, `target`, and back. */
export function moveSuite(where: string, target: TestServer): void {
  describe(`a tenant that is moved to ${where}`, () => {
    let mover: Awaited<ReturnType<typeof makeMover>>;
    let source: TestServer;
    let world: World;
    let factor: { email: string; password: string; secret: string; recovery_codes: string[] };
    let before: unknown;
    const accepted: string[] = [];
    const event = (n: number) => ({
      ...{ specversion: "1.0", id: `load-${n}`, type: "com.example.load", source: "/load", data: { n } },
    });

    beforeAll(async () => {
      mover = await makeMover();
      source = await startShared();
      world = await makeWorld(source, "moved");
      for (const kind of await kindsOfIds()) await world.idOf(kind);
      ok(await world.agent.post("/outputs", { body: LARGE, title: "Large", scope: "institutional" }));
      const invited = ok(await world.admin.post("/users", { email: "factor@moved.example" }));
      const own = api(source, await signIn(source, invited, world.slug));
      const { secret } = ok(await own.post("/auth/totp", { password: invited.password }));
      const { recovery_codes } = ok(await own.post("/auth/totp/confirm", { code: codeOf(secret) }));
      factor = { email: invited.email, password: invited.password, secret, recovery_codes };
    });
    afterAll(() => source?.stop());

    function publishing() {
      let going = true;
      const load = (async () => {
        for (let n = 0; going; n++) {
          accepted.push(ok(await world.agent.post("/events", event(n))).event_id);
          // Each is exported and imported several times.
          await sleep(10);
        }
      })();
      return {
        stop() {
          going = false;
          return load;
        },
      };
    }

    test("is exported under load: what was accepted before is in the file", async () => {
      const load = publishing();
      await settle(async () => accepted.length >= 20);
      const known = [...accepted];
      const command = `tenants export ${world.slug} ${mover.file("load.tar")} ${mover.secret}`;
      const exported = await mover.doneAt(source, command).finally(load.stop);
      expect(exported).toMatchObject({ tenant: { id: world.tenant_id }, missing: 0 });
      const text = await readFile(mover.file("load.tar"), "utf8");
      expect(known.filter((id) => !text.includes(id))).toEqual([]);
      expect([world.apiKey, factor.secret].filter((each) => text.includes(each))).toEqual([]);
    });

    test("as it was exported under load, is imported into a store without a server", async () => {
      const command = `tenants import ${mover.file("load.tar")} ${mover.secret}`;
      const imported = await mover.doneOffline(mover.file("offline"), command);
      expect(imported).toMatchObject({ refused: 0, tenant: { id: world.tenant_id, status: "active" } });
    });

    test("answers every read as before, with the same credentials", async () => {
      before = await everything(world);
      await mover.doneAt(source, `tenants suspend ${world.slug}`);
      await mover.doneAt(source, `tenants export ${world.slug} ${mover.file("final.tar")} ${mover.secret}`);
      const command = `tenants import ${mover.file("final.tar")} ${mover.secret}`;
      const imported = await mover.done(target.dataDir, command);
      expect(imported).toMatchObject({ refused: 0, tenant: { id: world.tenant_id, status: "active" } });
      const { export_id, tenant } = imported;
      const again = await mover.done(target.dataDir, command);
      expect(again).toEqual({ imported_already: true, export_id, tenant });
      const moved = await worldOn(target, world);
      expect(await everything(moved)).toEqual(before);
    });

    test("keeps second factors, and what was accepted stays accepted", async () => {
      const { email, password, secret } = factor;
      const login = { email, password, tenant_slug: world.slug, code: codeOf(secret, 1) };
      expect(await api(target).post("/auth/login", login)).toMatchObject({ status: 200 });
      const moved = await worldOn(target, world);
      expect(await moved.agent.post("/events", event(0))).toMatchObject({
        status: 200,
        body: { status: "duplicate", event_id: accepted[0] },
      });
    });

    test("finds what it remembers, and delivers what is published", async () => {
      const moved = await worldOn(target, world);
      await settle(async () => {
        const { results } = ok(await moved.agent.post("/memories/search", { query: "t c" }));
        return results.length > 0;
      });
      const { outputs } = ok(await moved.agent.get("/outputs?limit=100"));
      const large = outputs.find((each: { title: string }) => each.title === "Large");
      expect(ok(await moved.agent.get(`/outputs/${large.id}`)).body).toBe(LARGE);
      const dead = `/agents/${moved.agentId}/deliveries/${await world.idOf("dlv")}`;
      expect(ok(await moved.agent.get(`${dead}/log`)).log).toBe("a log\n[ended with 1]");
      const published = { ...event(-1), id: "after", type: "com.example.tenancy" };
      const { event_id } = ok(await moved.agent.post("/events", published));
      await settle(async () => {
        const { deliveries } = ok(await moved.agent.get("/delivery/poll?wait=5"));
        return deliveries.some((each: { event_id: string }) => each.event_id === event_id);
      });
    });

    test("moves back to an embedded store, also under another slug", async () => {
      const moved = await worldOn(target, world);
      const there = await everything(moved);
      await mover.done(target.dataDir, `tenants suspend ${world.slug}`);
      await mover.done(
        target.dataDir,
        `tenants export ${world.slug} ${mover.file("back.tar")} ${mover.secret}`,
      );
      const dataDir = mover.file("back");
      const command = `tenants import ${mover.file("back.tar")} ${mover.secret} --as returned`;
      expect(await mover.doneOffline(dataDir, command)).toMatchObject({
        ...{ refused: 0, tenant: { slug: "returned" } },
      });
      const back = await startOn(dataDir, world, "returned");
      try {
        const returned = await worldOn(back, world, "returned");
        const renamed = JSON.parse(
          JSON.stringify(there)
            .replaceAll(`/${world.slug}/`, "/returned/")
            .replaceAll(`"slug":"${world.slug}"`, '"slug":"returned"'),
        );
        expect(await everything(returned)).toEqual(renamed);
      } finally {
        await back.stop();
      }
    });
  });
}
