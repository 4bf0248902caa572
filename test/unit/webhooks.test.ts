import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { SecretBox } from "../../lib/crypto/secrets.ts";
import { newSigningSecret, sealSigningSecret, secretsAt } from "../../mixins/signing-secrets.ts";
import { idOfBody } from "../../services/sense/ingest/delivery-id.ts";
import { FirstIds } from "../../services/sense/ingest/first-ids.ts";
import { WebhookBodyModel } from "../../services/sense/ingest/ingest.model.ts";
import { WebhookLimits } from "../../services/sense/ingest/limits.ts";
import { webhookPath } from "../../services/sense/ingest/webhooks.ts";
import { type TemporaryStore, temporaryStore } from "../support/gateway.ts";

const HOUR = 60 * 60 * 1000;
const NOON = Date.UTC(2026, 0, 31, 12);

describe("an id that is not signed", () => {
  const body = Buffer.from("body");
  const at = { tenant_id: "tn_1", webhook_id: "whk_1", body };
  let temporary: TemporaryStore;
  beforeEach(async () => {
    temporary = await temporaryStore();
  });
  afterEach(() => temporary.remove());

  test("is the first that its body came under, for 24 hours, at one webhook", async () => {
    let now = NOON;
    const ids = new FirstIds(temporary.store.collection(WebhookBodyModel), () => now);
    expect(await Promise.all(["a", "a"].map((id) => ids.of({ ...at, id })))).toEqual(["a", "a"]);
    now += 24 * HOUR - 1;
    expect(await ids.of({ ...at, id: "b" })).toBe("a");
    expect(await ids.of({ ...at, webhook_id: "whk_2", id: "b" })).toBe("b");
    expect(await ids.of({ ...at, body: Buffer.from("other"), id: "c" })).toBe("c");
    now += 1;
    const rivals = await Promise.all(["d", "e", "f"].map((id) => ids.of({ ...at, id })));
    expect(new Set(rivals).size).toBe(1);
    expect(await ids.of({ ...at, id: "g" })).toBe(rivals[0]);
  });

  test("goes when its day is over", async () => {
    let now = NOON;
    const bodies = temporary.store.collection(WebhookBodyModel);
    const ids = new FirstIds(bodies, () => now);
    await ids.of({ ...at, id: "a" });
    expect([await ids.sweep(), await bodies.exists("tn_1", {})]).toEqual([false, true]);
    now += 24 * HOUR;
    expect([await ids.sweep(), await bodies.exists("tn_1", {})]).toEqual([false, false]);
  });
});

describe("the id of a body that has none", () => {
  /** Delivers the same body at these times; gives for each whether it was new. */
  async function deliver(times: number[]): Promise<boolean[]> {
    const accepted = new Map<string, number>();
    const fresh: boolean[] = [];
    for (const at of times) {
      const id = await idOfBody(Buffer.from("body"), at, async (id) => accepted.get(id) ?? null);
      fresh.push(!accepted.has(id));
      if (!accepted.has(id)) accepted.set(id, at);
    }
    return fresh;
  }

  test("is the same for 24 hours, over midnight too", async () => {
    expect(await deliver([NOON, NOON + 11 * HOUR, NOON + 13 * HOUR, NOON + 24 * HOUR - 1])).toEqual([
      ...[true, false, false, false],
    ]);
  });

  test("is another after that", async () => {
    expect(await deliver([NOON, NOON + 24 * HOUR, NOON + 25 * HOUR, NOON + 48 * HOUR])).toEqual([
      ...[true, true, false, true],
    ]);
  });

  test("begins a new day with each that is new, whenever they come", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 60 * HOUR }), { maxLength: 20 }), async (steps) => {
        let at = NOON;
        const times = steps.map((step) => {
          at += step;
          return at;
        });
        let began = Number.NEGATIVE_INFINITY;
        const expected = times.map((time) => {
          if (time < began + 24 * HOUR) return false;
          began = time;
          return true;
        });
        expect(await deliver(times)).toEqual(expected);
      }),
    );
  });

  test("is another for another body", async () => {
    const never = async () => null;
    const [one, other] = [Buffer.from("one"), Buffer.from("other")];
    expect(await idOfBody(one, NOON, never)).not.toBe(await idOfBody(other, NOON, never));
  });
});

describe("limits", () => {
  const limits = (refusals: number, perTenant = 0) =>
    new WebhookLimits({ WEBHOOK_REFUSALS_PER_MINUTE: refusals, WEBHOOKS_PER_MINUTE: perTenant }, null);
  const tooMany = expect.objectContaining({
    type: "rate_limited",
    data: { retry_after_seconds: 60, limit: 2, window_seconds: 60 },
  });

  test("count refusals per address and target", () => {
    const counted = limits(2);
    for (let i = 0; i < 2; i++) {
      counted.check("10.0.0.1", "acme/", NOON);
      counted.refused("10.0.0.1", "acme/", NOON);
    }
    expect(() => counted.check("10.0.0.1", "acme/", NOON)).toThrow(tooMany);
    expect(() => counted.check("10.0.0.1", "other/", NOON)).not.toThrow();
    expect(() => counted.check("10.0.0.2", "acme/", NOON)).not.toThrow();
    expect(() => counted.check("10.0.0.1", "acme/", NOON + 60_000)).not.toThrow();
  });

  test("end what an address may try at ever other targets", () => {
    const counted = limits(2);
    for (let i = 0; i < 20; i++) {
      counted.check("10.0.0.1", `guess-${i}/`, NOON);
      counted.refused("10.0.0.1", `guess-${i}/`, NOON);
    }
    expect(() => counted.check("10.0.0.1", "guess-20/", NOON)).toThrow("Too many webhooks");
  });

  test("count what is signed per tenant", async () => {
    const counted = limits(0, 2);
    await counted.accept("tn_1", NOON);
    await counted.accept("tn_1", NOON);
    await expect(counted.accept("tn_1", NOON)).rejects.toEqual(tooMany);
    await counted.accept("tn_2", NOON);
    await counted.accept("tn_1", NOON + 60_000);
  });

  test("are off at 0", async () => {
    const none = limits(0);
    for (let i = 0; i < 100; i++) none.refused("10.0.0.1", "acme/", NOON);
    expect(() => none.check("10.0.0.1", "acme/", NOON)).not.toThrow();
    await none.accept("tn_1", NOON);
  });
});

test("a replaced secret counts until it ends", () => {
  const secrets = new SecretBox(Buffer.alloc(32, 1));
  const [current, previous] = [newSigningSecret(secrets), newSigningSecret(secrets)];
  const kept = [
    sealSigningSecret(secrets, "webhooks/whk_1", current),
    { ...sealSigningSecret(secrets, "webhooks/whk_1", previous), ends_at: new Date(NOON) },
  ];
  expect(secretsAt(secrets, "webhooks/whk_1", kept, NOON - 1)).toEqual([current, previous]);
  expect(secretsAt(secrets, "webhooks/whk_1", kept, NOON)).toEqual([current]);
  expect(() => secretsAt(secrets, "webhooks/whk_2", kept, NOON)).toThrow("cannot be decrypted");
});

test.each([
  ["github", "/w/acme/github"],
  ["a b/c", "/w/acme/a%20b%2Fc"],
  ["/repository/owner", "/w/acme"],
  ["header:X-From", "/w/acme"],
])("the address of the source %s is %s", (source, path) => {
  expect(webhookPath("acme", source)).toBe(path);
});
