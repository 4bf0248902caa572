import type { IncomingMessage } from "node:http";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import type { ServiceBroker } from "moleculer";
import { hashApiKey } from "../../lib/access/api-key.ts";
import type { Caller } from "../../lib/access/caller.ts";
import { Fault } from "../../lib/contract/faults.ts";
import { CallerCache } from "../../services/edge/gateway/access/access.ts";

const TOKEN = "Bearer aaa.bbb.ccc";
const KEY = `ak_live_${"k".repeat(32)}`;
const request = (authorization?: string) =>
  ({ headers: { authorization }, socket: {} }) as unknown as IncomingMessage;

/** Stands for the auth service and the record: what they are asked, and what they answer. */
class Auth {
  /** How long they take; one that takes longer than a call may is not waited for. */
  delay_ms = 0;
  live = new Set(["aaa.bbb.ccc"]);
  down = false;
  suspended = false;
  scopes = ["send", "receive"];
  asked: string[] = [];
  /** Hashes of the API keys that it was asked for. */
  keys: unknown[] = [];
  ends_at = Number.POSITIVE_INFINITY;
  broker = {
    call: (action: string, params: never, options: { timeout: number }) =>
      this.#call(action, params, options),
    logger: { warn: jest.fn() },
  };

  /** Revokes everything, as the record knows it: no event tells. */
  revoke() {
    this.live.clear();
  }

  async #call(
    action: string,
    params: { tokens: string[]; hashes: string[]; callers: Caller[] },
    options: { timeout: number },
  ): Promise<unknown> {
    this.asked.push(action);
    this.keys.push(...(params.hashes ?? []));
    if (this.down) throw new Error("no connection");
    if (this.delay_ms) {
      await new Promise((resolve) => setTimeout(resolve, Math.min(this.delay_ms, options.timeout)));
      if (this.delay_ms > options.timeout) throw new Error("no answer in time");
    }
    if (action === "auth.states") {
      const { scopes } = this;
      return params.callers.map((caller) => (this.live.has(caller.token_id) ? { ...caller, scopes } : null));
    }
    const each = (params.tokens ?? params.hashes).map((given) => this.#verify(given));
    return each.map((caller) => (caller instanceof Fault ? { fault: caller } : { caller }));
  }

  #verify(token: string): object | Fault {
    if (this.suspended) return new Fault("authentication_failed", "suspended", { reason: "suspended" });
    if (!this.live.has(token)) return new Fault("authentication_failed", "revoked");
    return {
      ...{ kind: "agent", tenant_id: "tn_1", agent_id: "ag_1", key_id: "key_1", token_id: token },
      ...{ scopes: this.scopes, expires_at: this.ends_at },
    };
  }
}

let auth: Auth;
let cache: CallerCache;

beforeEach(() => {
  jest.useFakeTimers();
  auth = new Auth();
  cache = new CallerCache(auth.broker as unknown as ServiceBroker);
  cache.start();
});
afterEach(() => {
  cache.stop();
  jest.useRealTimers();
});

const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);
const outcome = async () => {
  try {
    return ((await cache.resolve(request(TOKEN))) as { agent_id?: string }).agent_id;
  } catch (err) {
    return (err as Fault).type;
  }
};
/** How long a caller that asks every 100 ms still gets in, after something happened. */
const heldOut = async () => {
  for (let ms = 0; ms <= 10_000; ms += 100) {
    if ((await outcome()) !== "ag_1") return ms;
    await pass(100);
  }
  return Number.POSITIVE_INFINITY;
};

test("a token is verified once, also when many requests bring it at once", async () => {
  await Promise.all(Array.from({ length: 50 }, outcome));
  expect(await outcome()).toBe("ag_1");
  expect(auth.asked).toEqual(["auth.verify_all"]);
  expect(cache.resolve(request(TOKEN))).not.toBeInstanceOf(Promise);
});

test.each([
  ["tokens", (n: number) => `ddd.eee.${n}`, (given: string) => given],
  ["API keys", (n: number) => `ak_live_${String(n).padStart(32, "k")}`, hashApiKey],
])(
  "of many new callers at once the %s are verified together, each with its own answer",
  async (_, credential, asAsked) => {
    for (let n = 0; n < 300; n++) if (n !== 250) auth.live.add(asAsked(credential(n)));
    auth.delay_ms = 100;
    const asked = Array.from({ length: 300 }, async (_, n) =>
      cache.resolve(request(`Bearer ${credential(n)}`)),
    );
    const answers = Promise.allSettled(asked);
    await pass(300);
    const refused = (await answers).flatMap((each, n) =>
      each.status === "rejected" ? [[n, each.reason]] : [],
    );
    expect(refused).toEqual([[250, expect.objectContaining({ type: "authentication_failed" })]]);
    expect((await asked[299])?.token_id).toBe(asAsked(credential(299)));
    expect(auth.asked.filter((action) => action !== "auth.states").length).toBeLessThan(10);
  },
);

test("callers in use are checked every 2 s, all in one call, and others not at all", async () => {
  for (let n = 0; n < 50; n++) auth.live.add(`ddd.eee.${n}`);
  const everybody = () =>
    Promise.all(Array.from({ length: 50 }, async (_, n) => cache.resolve(request(`Bearer ddd.eee.${n}`))));
  await everybody();
  auth.asked = [];
  for (let n = 0; n < 5; n++) {
    await everybody();
    await pass(2000);
  }
  expect(auth.asked).toEqual(Array(5).fill("auth.states"));
  auth.asked = [];
  await pass(20_000);
  expect(auth.asked).toEqual([]);
});

test("thousands of callers are checked a thousand at a time", async () => {
  auth.live = { has: () => true } as never;
  for (let n = 0; n < 2500; n++) {
    await cache.resolve(request(`Bearer ddd.eee.${n}`));
    cache.resolve(request(`Bearer ddd.eee.${n}`));
  }
  auth.asked = [];
  await pass(2000);
  expect(auth.asked).toEqual(Array(3).fill("auth.states"));
});

test("a caller's changed rights hold within 5 s, although no event tells", async () => {
  await outcome();
  auth.scopes = ["send"];
  await pass(4500);
  expect(await cache.resolve(request(TOKEN))).toMatchObject({ scopes: ["send"] });
});

test("a revoked token is refused within 5 s, whenever in the period it is revoked", async () => {
  for (const offset of [0, 1, 500, 1999, 2000, 2001, 3500]) {
    auth.live.add("aaa.bbb.ccc");
    expect(await outcome()).toBe("ag_1");
    await pass(offset);
    await outcome();
    auth.revoke();
    expect(await heldOut()).toBeLessThanOrEqual(5000);
    expect(await outcome()).toBe("authentication_failed");
  }
});

test("one that is used once in a while is asked for again after 4.5 s", async () => {
  await outcome();
  auth.revoke();
  await pass(4500);
  expect(await outcome()).toBe("authentication_failed");
});

test("an API key is asked for by its hash", async () => {
  auth.live.add(hashApiKey(KEY));
  const resolve = async () => cache.resolve(request(`Bearer ${KEY}`));
  await resolve();
  await pass(4500);
  auth.down = true;
  await expect(resolve()).rejects.toMatchObject({ type: "service_unavailable" });
  auth.down = false;
  await resolve();
  expect(auth.keys).toEqual(Array(3).fill(hashApiKey(KEY)));
  auth.revoke();
  await pass(4500);
  await expect(resolve()).rejects.toMatchObject({ type: "authentication_failed" });
});

test("a suspended tenant's key is asked for once in 2 s, until something changes", async () => {
  auth.live.add(hashApiKey(KEY));
  auth.suspended = true;
  const resolve = async () => cache.resolve(request(`Bearer ${KEY}`));
  const refused = () => expect(resolve()).rejects.toMatchObject({ data: { reason: "suspended" } });
  for (let n = 0; n < 10; n++) await refused();
  expect(auth.keys).toHaveLength(1);
  await pass(2000);
  await refused();
  expect(auth.keys).toHaveLength(2);
  auth.suspended = false;
  cache.forget({ tenant_id: "tn_1" });
  await expect(resolve()).resolves.toMatchObject({ agent_id: "ag_1" });
});

test("while the record is silent, nobody is trusted longer than 5 s: 503, and back as soon as it answers", async () => {
  await outcome();
  auth.delay_ms = 60_000;
  await pass(4500);
  const asked = auth.asked.length;
  const waiting = Array.from({ length: 100 }, outcome);
  await pass(6000);
  expect(await Promise.all(waiting)).toEqual(Array(100).fill("service_unavailable"));
  // All of them wait for the same verification.
  expect(auth.asked.length - asked).toBeLessThanOrEqual(4);
  auth.delay_ms = 0;
  await pass(3000);
  expect(await outcome()).toBe("ag_1");
});

test("a record that answers late costs nobody a 503", async () => {
  await outcome();
  auth.delay_ms = 2400;
  for (let n = 0; n < 30; n++) {
    const asked = outcome();
    // As long as a request may wait for a verification.
    await pass(2500);
    expect(await asked).toBe("ag_1");
  }
});

describe("an open request", () => {
  const refusals = () => {
    const refused: string[] = [];
    const leave = cache.watch(request(TOKEN), (fault) => refused.push(fault.type));
    return { refused, leave };
  };

  test("is refused within 5 s, although no event tells", async () => {
    for (const offset of [0, 1, 500, 1999, 2000, 2001, 3500]) {
      auth.live.add("aaa.bbb.ccc");
      await outcome();
      const { refused, leave } = refusals();
      await pass(20_000 + offset);
      expect(refused).toEqual([]);
      auth.revoke();
      await pass(5000);
      expect(refused).toEqual(["authentication_failed"]);
      leave();
    }
  });

  test("is refused at once by the event, and when its token expires", async () => {
    await outcome();
    const first = refusals();
    auth.revoke();
    cache.forget({ tenant_id: "tn_1", agent_id: "ag_1" });
    await pass(0);
    expect(first.refused).toEqual(["authentication_failed"]);
    auth.live.add("aaa.bbb.ccc");
    auth.ends_at = Date.now() + 10_000;
    await outcome();
    const second = refusals();
    await pass(12_000);
    expect(second.refused).toEqual(["authentication_failed"]);
  });

  test("stays open while nothing can be verified, and is told nothing after its end", async () => {
    await outcome();
    const { refused, leave } = refusals();
    const other = refusals();
    auth.delay_ms = 60_000;
    await pass(20_000);
    expect(refused).toEqual([]);
    leave();
    auth.delay_ms = 0;
    auth.revoke();
    await pass(10_000);
    expect(refused).toEqual([]);
    expect(other.refused).toEqual(["authentication_failed"]);
  });
});

test("a token is refused from the moment it expires", async () => {
  auth.ends_at = Date.now() + 1000;
  expect(await outcome()).toBe("ag_1");
  auth.live.clear();
  await pass(999);
  expect(await outcome()).toBe("ag_1");
  await pass(1);
  expect(await outcome()).toBe("authentication_failed");
});

test.each([
  ["its tenant", { tenant_id: "tn_1" }, true],
  ["its key", { tenant_id: "tn_1", key_id: "key_1" }, true],
  ["its agent", { tenant_id: "tn_1", agent_id: "ag_1" }, true],
  ["itself", { tenant_id: "tn_1", token_id: "aaa.bbb.ccc" }, true],
  ["another key", { tenant_id: "tn_1", key_id: "key_2" }, false],
  ["a user", { tenant_id: "tn_1", user_id: "usr_1" }, false],
  ["another tenant", { tenant_id: "tn_2" }, false],
])("a change of %s drops it at once: %j", async (_, change, drops) => {
  await outcome();
  auth.asked = [];
  cache.forget(change);
  await outcome();
  expect(auth.asked).toEqual(drops ? ["auth.verify_all"] : []);
});

test.each([
  ["none", undefined],
  ["another scheme", "Basic aaa.bbb.ccc"],
  ["no token", "Bearer "],
  ["something that is no JWT", "Bearer aaa"],
  ["two tokens", "Bearer aaa.bbb.ccc aaa.bbb.ccc"],
  ["an endless one", `Bearer aaa.bbb.${"c".repeat(5000)}`],
])("an Authorization header with %s is refused without asking", async (_, header) => {
  await expect(async () => cache.resolve(request(header))).rejects.toMatchObject({
    type: "authentication_failed",
  });
  expect(auth.asked).toEqual([]);
});

test("it keeps a bounded number, and those that were used last", async () => {
  auth.live = { has: () => true } as never;
  await outcome();
  for (let i = 0; i < 30_000; i++) await cache.resolve(request(`Bearer a.a.${i}`));
  await outcome();
  await pass(2000);
  for (let i = 30_000; i < 60_000; i++) await cache.resolve(request(`Bearer a.a.${i}`));
  expect(cache.resolve(request(TOKEN))).not.toBeInstanceOf(Promise);
  expect(cache.resolve(request("Bearer a.a.0"))).toBeInstanceOf(Promise);
  await pass(0);
});
