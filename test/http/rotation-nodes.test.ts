/** @needs mongodb: two nodes on one record over NATS, whose SECRET_KEY is replaced one node after the other. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { startAlone } from "../support/alone.ts";
import { api } from "../support/http.ts";
import { type NatsServer, startNats } from "../support/nats.ts";
import type { TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, OPERATOR_TOKEN, ok, signIn, type World } from "../support/tenancy.ts";
import { useMongo } from "../support/use.ts";
import { order, type Registration, register, SHOP, send } from "../support/webhooks.ts";

const mongo = await useMongo();
const here = "url" in mongo;
const [OLD, NEW] = [randomBytes(32).toString("base64"), randomBytes(32).toString("base64")];

(here ? describe : describe.skip)("keys of two nodes", () => {
  let nats: NatsServer;
  let one: TestServer;
  let other: TestServer;
  let world: World;
  let hook: Registration;

  const start = (keys: Record<string, string>, beside?: TestServer) => {
    const url = here ? mongo.url : "";
    const env = { MONGO_URL: url, NATS_URL: nats.url, OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0" };
    const more = { REQUEST_TIMEOUT_SECONDS: "5", EMBEDDER: "none" };
    return startAlone({ env: { ...env, ...more, ...keys }, ...(beside && { beside }) });
  };
  /** A webhook of one node, and its request at another, with the path of that node. */
  const accepts = async (server: TestServer, { url, ...rest }: Registration, what: string) => {
    const there = { ...rest, url: server.root + new URL(url).pathname };
    return (await send(there, order({ what }))).status;
  };

  beforeAll(async () => {
    nats = await startNats();
    one = await start({ SECRET_KEY: OLD, SECRET_KEY_FALLBACKS: NEW });
    world = await makeWorld(one, "rotation");
    hook = await register(world.admin, SHOP);
  });
  afterAll(async () => {
    await other?.stop();
    await one?.stop();
    await nats?.stop();
  });

  test("while they encrypt with different ones, each reads what the other has written, and nothing counts as done", async () => {
    other = await start({ SECRET_KEY: NEW, SECRET_KEY_FALLBACKS: OLD }, one);
    const written = await register(world.admin, { ...SHOP, name: "Second", source: "second" });
    const newer = await register(api(other, world.adminToken), { ...SHOP, name: "Third", source: "third" });
    for (const server of [one, other])
      for (const each of [hook, written, newer]) expect(await accepts(server, each, server.root)).toBe(202);
    const { secret_key } = ok(await api(other, OPERATOR_TOKEN).get("/rotation"));
    expect(secret_key).toMatchObject({ kept_in: "settings", in_use: secret_key.fallbacks });
    expect(Object.values(secret_key.nodes)).toHaveLength(2);
  });

  test("a new signing key signs on both, and ends the tokens of both", async () => {
    const former = await signIn(one, world.credentials, world.slug);
    ok(await api(one, OPERATOR_TOKEN).post("/rotation", { at_once: true }));
    const statusAt = async (server: TestServer, token: string) =>
      (await api(server, token).get("/auth/me")).status;
    for (const server of [one, other]) await settle(async () => (await statusAt(server, former)) === 401);
    const token = await signIn(one, world.credentials, world.slug);
    for (const server of [one, other]) expect(await statusAt(server, token)).toBe(200);
  });

  test("once all nodes have the new one, nothing needs the former, and a node with that alone does not start", async () => {
    await one.end();
    const operator = api(other, OPERATOR_TOKEN);
    const state = await settle(async () => {
      const { secret_key } = ok(await operator.get("/rotation"));
      return secret_key.in_use.length === 0 && secret_key;
    });
    expect(state.left).toEqual({});
    await expect(start({ SECRET_KEY: OLD })).rejects.toThrow(`encrypted with the key ${state.active}`);
    await other.end();
    await other.stop();
    other = await start({ SECRET_KEY: NEW }, one);
    expect(await accepts(other, hook, "last")).toBe(202);
  });
});
