import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { type Sealed, SecretBox, SecretError } from "../../lib/crypto/secrets.ts";
import { SEALED_COLUMNS } from "../../services/identity/rotation/secret-keys.ts";
import { openStore } from "../../storage/connection.ts";
import { blocksOf, page } from "../support/guides.ts";
import { agentToken, api } from "../support/http.ts";
import { loadKits } from "../support/kits.ts";
import { approve, attempt, exchange, refresh, registered } from "../support/oauth.ts";
import { settle } from "../support/settle.ts";
import { shell } from "../support/shell.ts";
import { makeWorld, OPERATOR_TOKEN, ok, refused, signIn } from "../support/tenancy.ts";
import { codeOf } from "../support/totp.ts";
import { useServer } from "../support/use.ts";
import { order, type Registration, register, SHOP, send } from "../support/webhooks.ts";

const ROOT = join(import.meta.dirname, "../..");
/** Each command starts npm, which a busy machine takes seconds for. */
const LONGEST_MS = 150_000;
const FORMER_OPERATOR = "the-rather-former-operator-token";
const ENV = {
  ...{ OPERATOR_TOKEN, OPERATOR_TOKEN_FALLBACKS: FORMER_OPERATOR, REQUEST_TIMEOUT_SECONDS: "5" },
  ...{ RATE_LIMIT_PER_MINUTE: "0", LOGIN_ATTEMPTS_PER_MINUTE: "0", PUSH_ALLOW_PRIVATE: "true" },
  EMBEDDER: "none",
};
const BROKER = "amqp://shop:s3cret-of-the-broker@broker.invalid";

const server = await useServer({ env: ENV });
const operator = api(server, OPERATOR_TOKEN);
const world = await makeWorld(server, "rotation");

const keysOnFile = async () => {
  const lines = (await readFile(join(server.dataDir, "secret.key"), "utf8")).trim().split("\n");
  return lines.map((line) => Buffer.from(line, "base64")) as [Buffer, ...Buffer[]];
};

/** Holders of a secret or of a value derived from the key, and how to check that each still works. */
type Filled = { hook: Registration; works(round: number): Promise<void> };

async function fill(): Promise<Filled> {
  const { admin, agent, agentId } = world;
  const hook = await register(admin, SHOP);
  const mapping = { entity: "thing", action: "made" };
  const broker = { kind: "amqp091", url: BROKER, queue: "q", paused: true };
  ok(await admin.post("/ingest/connectors", { name: "c", source: "test", mapping, ...broker }));
  const person = ok(await admin.post("/users", { email: "factor@rotation.example" }));
  const login = (code?: string) => {
    const { email, password } = person;
    return api(server).post("/auth/login", { email, password, ...(code && { code }) });
  };
  const own = api(server, ok(await login()).access_token);
  const { secret } = ok(await own.post("/auth/totp", { password: person.password }));
  ok(await own.post("/auth/totp/confirm", { code: codeOf(secret) }));
  const { user_code } = ok(await admin.post(`/agents/${agentId}/device-code`, {}));
  const client_info = { name: "test-client", version: "1.0", host: "a-host" };
  const { claim_id } = ok(await admin.post("/device-codes:claim", { user_code, client_info }));
  const extended = await Promise.all((await loadKits()).map((kit) => kit.sealed?.(server, world)));
  const { body: session, headers } = await api(server).post("/auth/session", world.credentials);
  const cookie = headers
    .getSetCookie()
    .map((set) => set.split(";")[0])
    .join("; ");
  const client = await registered(server);
  const asked = await attempt(client);
  const granted = await exchange(client, await approve(admin, asked.query, agentId), asked);
  let refresh_token = granted.refresh_token as string;
  const again = { "Idempotency-Key": randomUUID() };
  const created = ok(await admin.post("/agents", { name: "once", delivery_mode: "poll" }, again));
  let connects = true;

  return {
    hook,
    async works(round) {
      expect((await send(hook, order({ round }))).status).toBe(202);
      expect(ok(await login(codeOf(secret, round))).access_token).toEqual(expect.any(String));
      expect(ok(await agent.get("/auth/me"))).toMatchObject({ agent: { id: agentId } });
      const change = { cookie, "x-csrf-token": session.csrf_token };
      expect((await api(server).post("/channels", { name: `c${round}` }, change)).status).toBe(201);
      refresh_token = (await refresh(client, refresh_token)).refresh_token as string;
      expect(ok(await admin.post("/agents", { name: "once", delivery_mode: "poll" }, again))).toEqual(
        created,
      );
      for (const works of extended) await works?.();
      if (connects) {
        ok(await admin.post(`/agents/${agentId}/device-code:confirm`, { claim_id, action: "approve" }));
        const { api_key } = ok(await admin.post("/device-codes:complete", { claim_id }));
        expect(await agentToken(server, api_key)).toEqual(expect.any(String));
        connects = false;
      }
    },
  };
}

/** Every sealed text of the stopped server's store, by `collection.path`, with its row's id. */
async function sealedTexts(): Promise<{ column: string; id: string; text: Sealed }[]> {
  const store = await openStore({ DATA_DIR: server.dataDir });
  try {
    const found = [];
    for (const [name, collection] of await store.collections())
      for (const row of await collection.find({}).toArray())
        for (const [path, text] of texts(row, name))
          if (/^v1\.[\w-]{38,}(\.|$)/.test(text))
            found.push({ column: path, id: String(row._id), text: text as Sealed });
    return found;
  } finally {
    await store.close();
  }
}

function texts(value: unknown, path: string): [string, string][] {
  if (typeof value === "string") return [[path, value]];
  if (Array.isArray(value)) return value.flatMap((each) => texts(each, path));
  if (value === null || typeof value !== "object" || value instanceof Date) return [];
  return Object.entries(value).flatMap(([name, each]) => texts(each, `${path}.${name}`));
}

const COLUMNS = SEALED_COLUMNS.map(({ model, path }) => `${model.name}.${path}`);

/** Which columns have a text that these keys open. */
async function openedBy(key: Buffer): Promise<string[]> {
  const box = new SecretBox(key);
  const opened = (await sealedTexts()).filter(({ column, id, text }) => {
    const { place } = SEALED_COLUMNS[COLUMNS.indexOf(column)] ?? {};
    if (!place) throw new Error(`${column} holds a sealed text, but its model does not say so`);
    try {
      return box.open(text, place(id)) !== "";
    } catch (err) {
      if (err instanceof SecretError) return false;
      throw err;
    }
  });
  return [...new Set(opened.map(({ column }) => column))].sort();
}

let filled: Filled;
let first: Buffer;
let fresh: Buffer;

test("the keys of an installation encrypt one of everything that is declared, and of nothing else", async () => {
  filled = await fill();
  [first] = await keysOnFile();
  await server.end();
  expect(await openedBy(first)).toEqual([...COLUMNS].sort());
  await server.restart();
});

test("the keys of an installation are replaced while everything keeps working, a kill included", async () => {
  const before = ok(await operator.get("/rotation"));
  expect(before.secret_key).toMatchObject({ kept_in: "file", fallbacks: [], in_use: [], left: {} });
  const begun = ok(await api(server, FORMER_OPERATOR).post("/rotation", {}));
  await server.kill();
  await server.restart();
  expect(await keysOnFile()).toHaveLength(2);
  [fresh] = await keysOnFile();
  const [former, active] = [before.secret_key.active, begun.secret_key.active];
  expect(ok(await operator.get("/rotation")).secret_key).toMatchObject({ active, fallbacks: [former] });
  expect(begun.signing_keys.map(({ state }: { state: string }) => state)).toEqual(["signing", "published"]);
  const { keys } = ok(await api({ url: server.root }).get("/.well-known/jwks.json"));
  expect(keys).toHaveLength(2);
  await filled.works(1);
});

test("the keys of an installation cannot be dropped before nothing needs them", async () => {
  await settle(async () => {
    const { in_use, left } = ok(await operator.get("/rotation")).secret_key;
    if (in_use.length > 0) await refused(operator.post("/rotation/finish", {}), "conflict");
    return in_use.length === 0 && Object.keys(left).length === 0;
  });
  await settle(() => server.logs().includes("they can be removed"));
  const finished = ok(await operator.post("/rotation/finish", {}));
  expect(finished.secret_key).toMatchObject({ fallbacks: [], in_use: [] });
  expect(await keysOnFile()).toEqual([fresh]);
});

test("the keys of an installation then a stolen former key opens nothing, and everything works without it", async () => {
  await server.end();
  expect(await openedBy(first)).toEqual([]);
  expect(await openedBy(fresh)).toEqual([...COLUMNS].sort());
  await server.restart();
  expect((await send(filled.hook, order({ round: "last" }))).status).toBe(202);
  const log = server.logs();
  for (const secret of [first, fresh]) expect(log).not.toContain(secret.toString("base64"));
  expect(log).not.toContain("s3cret-of-the-broker");
});

test.each(blocksOf(page("docs/runbooks/key-leaked.md")))(
  "the keys of an installation the runbook's commands run: %#",
  async (script) => {
    const env = { ...process.env, DATA_DIR: server.dataDir, OPERATOR_TOKEN };
    expect(await shell(script, { cwd: ROOT, env, longestMs: LONGEST_MS })).toMatchObject({ code: 0 });
    expect(ok(await operator.get("/rotation")).secret_key).toMatchObject({ fallbacks: [], in_use: [] });
  },
);

test("the keys of an installation at once ends every token, and the former key is published for receipts only", async () => {
  const token = await signIn(server, world.credentials, world.slug);
  expect((await api(server, token).get("/auth/me")).status).toBe(200);
  const { signing_keys } = ok(await operator.post("/rotation", { keys: ["signing"], at_once: true }));
  expect(signing_keys).toEqual([expect.objectContaining({ state: "signing", ends_at: null })]);
  await settle(async () => (await api(server, token).get("/auth/me")).status === 401);
  const root = api({ url: server.root });
  expect(ok(await root.get("/.well-known/jwks.json")).keys).toHaveLength(1);
  expect(ok(await root.get("/.well-known/jwks.json?retired=true")).keys).toHaveLength(5);
});
