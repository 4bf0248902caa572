import { afterAll, beforeEach, describe, expect, test } from "@jest/globals";
import { type Caller, callerId } from "../../lib/access/caller.ts";
import { Fault } from "../../lib/contract/faults.ts";
import { deletion } from "../../mixins/due.ts";
import { IdempotencyModel } from "../../services/edge/idempotency/idempotency.model.ts";
import { BlobWrite } from "../../storage/blobs/blobs.ts";
import { guardBlobs } from "../../storage/blobs/guarded.ts";
import { CALLERS, startGateway, type TestGateway } from "../support/gateway.ts";
import { api } from "../support/http.ts";
import { type TemporaryStore, temporaryStore } from "../support/own-store.ts";
import { settle } from "../support/settle.ts";
import { refused } from "../support/tenancy.ts";
import { type Things, things } from "../support/things.ts";

let gateway: TestGateway;
let domain: Things;
let keys = 0;

const newKey = () => ({ "idempotency-key": `key-${++keys}` });
const replayed = (headers: Headers) => headers.get("idempotency-replayed");

let files: TemporaryStore = await temporaryStore();
let isUsual = false;

/** Starts the gateway anew; without options it is the one of most tests. */
async function start(options?: Partial<Parameters<typeof startGateway>[0]>) {
  await (gateway as TestGateway | undefined)?.stop();
  domain = things();
  const { store, blobs } = files;
  const { operations, service } = domain;
  gateway = await startGateway({ operations, services: [service], store, blobs, ...options });
  isUsual = options === undefined;
}

beforeEach(async () => {
  if (!isUsual) await start();
  for (const seen of [domain.made, domain.firstAt]) seen.length = 0;
});
afterAll(async () => {
  await gateway.stop();
  await files.remove();
});

describe("the same request with the same key", () => {
  test("is carried out once, and answered the same", async () => {
    const key = newKey();
    const first = await api(gateway, "ann").post("/things", { name: "lamp" }, key);
    const second = await api(gateway, "ann").post("/things", { name: "lamp" }, key);
    expect([first.status, replayed(first.headers)]).toEqual([201, null]);
    expect([second.status, replayed(second.headers)]).toEqual([201, "true"]);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("content-type")).toBe(first.headers.get("content-type"));
    expect(second.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
    expect(domain.made).toEqual(["lamp"]);
  });

  test.each([
    ["PATCH", "/things/ch_1", { name: "lamp" }, 200],
    ["POST", "/things/people", undefined, 403],
    ["POST", "/things", { name: "" }, 400],
    ["POST", "/things/fail", { how: "conflict" }, 409],
  ])("is not carried out again: %s %s → %#", async (method, path, body, status) => {
    const key = newKey();
    const call = method === "PATCH" ? api(gateway, "ann").patch : api(gateway, "ann").post;
    const first = await call(path, body, key);
    const effects = domain.made.length;
    const second = await call(path, body, key);
    expect([first.status, second.status]).toEqual([status, status]);
    expect(domain.made.length).toBe(effects);
  });

  test("waits for the first while that is running", async () => {
    const key = newKey();
    const ask = () => api(gateway, "ann").post("/things/slow", { name: "slow" }, key);
    const first = ask();
    await settle(() => domain.waiting() === 1);
    const others = [ask(), ask(), ask()];
    // A request that is not theirs has been through the whole way since: they had the time to run, and did not.
    await api(gateway, "ann").post("/things", { name: "other" }, newKey());
    expect(domain.waiting()).toBe(1);
    domain.release();
    const answers = await Promise.all([first, ...others]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(answers.map(({ headers }) => replayed(headers))).toEqual([null, "true", "true", "true"]);
    expect(domain.made).toEqual(["other", "slow"]);
  });

  test("is held by one of many concurrent requests, and by none that has disconnected", async () => {
    const key = newKey();
    const first = api(gateway, "ann").post("/things/slow", { name: "slow" }, key);
    await settle(() => domain.waiting() === 1);
    const held = await files.store.collection(IdempotencyModel).findOne("tn_one", { answered_at: null });
    const { fingerprint, lease } = held as { fingerprint: string; lease: string };
    const place = {
      ...{ tenant_id: "tn_one", caller_id: callerId(CALLERS.ann as Caller), key: key["idempotency-key"] },
    };
    const open = (by: string) =>
      gateway.broker.call("idempotency.open", { ...place, fingerprint, lease: by });
    expect(await open("another")).toEqual({ outcome: "wait" });
    expect(await open(lease)).toMatchObject({ outcome: "run", lease });
    domain.release();
    expect((await first).status).toBe(201);
    expect(await open("another")).toMatchObject({ outcome: "replay" });
  });

  test("does not keep a node from stopping while it waits for the first", async () => {
    const key = newKey();
    const ask = () => api(gateway, "ann").post("/things/slow", { name: "slow" }, key);
    const first = ask();
    await settle(() => domain.waiting() === 1);
    const second = ask();
    await api(gateway, "ann").post("/things", { name: "other" }, newKey());
    isUsual = false;
    const stopping = gateway.broker.broadcastLocal("node.stopping");
    expect(await second).toMatchObject({ status: 503, body: { error: { code: "service_unavailable" } } });
    domain.release();
    expect((await first).status).toBe(201);
    await stopping;
  });

  test("is answered the same after a restart", async () => {
    const key = newKey();
    const first = await api(gateway, "ann").post("/things", { name: "lamp" }, key);
    await gateway.stop();
    await files.reopen();
    await start({});
    const second = await api(gateway, "ann").post("/things", { name: "lamp" }, key);
    expect([second.status, replayed(second.headers)]).toEqual([201, "true"]);
    expect(second.body).toEqual(first.body);
    expect(domain.made).toEqual([]);
  });

  test.each(["service_unavailable", "unexpectedly"])(
    "is carried out again after a failure (%s)",
    async (how) => {
      const key = newKey();
      const ask = (body: object) => api(gateway, "ann").post("/things/fail", body, key);
      for (const _ of [1, 2]) expect((await ask({ how })).status).toBeGreaterThanOrEqual(500);
      expect(domain.made).toEqual([how, how]);
      // The failed one may have had an effect: no other request may take its place.
      const { details } = (await ask({ how: "conflict" })).body.error;
      expect(details.idempotency_key).toBe(key["idempotency-key"]);
    },
  );

  test("may be another one after it was refused unseen (429)", async () => {
    const key = newKey();
    await api(gateway, "ann").post("/things/fail", { how: "rate_limited" }, key);
    const other = await api(gateway, "ann").post("/things", { name: "lamp" }, key);
    expect([other.status, replayed(other.headers)]).toEqual([201, null]);
  });
});

describe("a key that was used for another request", () => {
  test.each([
    ["body", "/things", { name: "chair" }],
    ["path", "/things/large", { name: "lamp" }],
    ["query", "/things?x=1", { name: "lamp" }],
  ])("(another %s) is a conflict that names the created resource", async (_what, path, body) => {
    const key = newKey();
    const first = await api(gateway, "ann").post("/things", { name: "lamp" }, key);
    const details = { idempotency_key: key["idempotency-key"], existing_resource_id: first.body.id };
    await refused(api(gateway, "ann").post(path, body, key), "conflict", details);
    expect(domain.made).toEqual(["lamp"]);
  });

  test.each(["ada", "cyd"])("by another caller (%s) is another key", async (other) => {
    const key = newKey();
    const first = await api(gateway, "ann").post("/things", { name: "lamp" }, key);
    const second = await api(gateway, other).post("/things", { name: "lamp" }, key);
    expect([second.status, replayed(second.headers)]).toEqual([201, null]);
    expect(second.body.id).not.toBe(first.body.id);
  });
});

test.each([0, 256])("a key of %i characters is refused", async (length) => {
  const headers = { "idempotency-key": "k".repeat(length) };
  const { status, body } = await api(gateway, "ann").post("/things", { name: "lamp" }, headers);
  const { code, details } = body.error;
  expect([status, code, details.field]).toEqual([400, "validation_failed", "Idempotency-Key"]);
  expect(domain.made).toEqual([]);
  const longest = { "idempotency-key": "k".repeat(255) };
  expect((await api(gateway, "ann").post("/things", { name: "lamp" }, longest)).status).toBe(201);
});

test("a key is ignored where there is no caller, and where nothing is written, also on a read by POST", async () => {
  const rows = () => files.store.collection(IdempotencyModel).count("tn_one", {});
  const [key, before] = [newKey(), await rows()];
  await api(gateway).post("/things/echo", { name: "one" }, key);
  const again = await api(gateway).post("/things/echo", { name: "two" }, key);
  expect([again.status, replayed(again.headers)]).toEqual([201, null]);
  const read = await api(gateway, "ann").get("/things", key);
  expect([read.status, replayed(read.headers)]).toEqual([200, null]);
  for (const name of ["three", "four"]) {
    const { status, headers } = await api(gateway, "ann").post("/things/search", { name }, key);
    expect([status, replayed(headers)]).toEqual([200, null]);
  }
  expect(domain.made).toEqual(["one", "two", "three", "four"]);
  expect(await rows()).toBe(before);
});

describe("stored answers", () => {
  const records = () => files.store.collection(IdempotencyModel);
  const past = () => new Date(Date.now() - 1);
  const last = async () =>
    (await records().system.find({}, { bounded: "one" }).sort({ expires_at: -1 }).limit(1).toArray())[0];

  test("lasts for 24 hours at least", async () => {
    await api(gateway, "ann").post("/things", { name: "lamp" }, newKey());
    expect((await last())?.expires_at.getTime()).toBeGreaterThan(Date.now() + 24 * 3_600_000);
  });

  test("is sealed where it holds a secret, and then gone: the key still keeps the request from running again", async () => {
    const key = newKey();
    const ask = () => api(gateway, "ann").post("/things/secret", { name: "safe" }, key);
    const first = await ask();
    const record = (await last()) as NonNullable<Awaited<ReturnType<typeof last>>>;
    expect(record.answer).not.toContain("whsec_");
    expect((await ask()).body).toEqual(first.body);
    await records().update("tn_one", { _id: record._id }, { $set: { secret_ends_at: past() } });
    const { status, body } = await ask();
    const details = { idempotency_key: key["idempotency-key"], existing_resource_id: first.body.id };
    expect([status, body.error.details]).toEqual([409, details]);
    expect(domain.made).toEqual(["safe"]);
  });

  test("is a blob where it is large, which stays as long as the key", async () => {
    const key = newKey();
    const ask = () => api(gateway, "ann").post("/things/large", { name: "book" }, key);
    const first = await ask();
    expect(first.body.text).toHaveLength(2_000_000);
    const { _id, answer_blob } = (await last()) as { _id: string; answer_blob: string };
    const second = await ask();
    expect([second.status, replayed(second.headers)]).toEqual([201, "true"]);
    expect(second.body).toEqual(first.body);
    expect(domain.made).toEqual(["book"]);
    expect(await files.blobs.release("tn_one", [answer_blob, "0".repeat(64)])).toBe(0);
    await records().update("tn_one", { _id }, { $set: { expires_at: new Date(Date.now() - 1) } });
    await deletion({ rows: records(), by: "expires_at", now: Date.now })();
    await expect(files.blobs.get("tn_one", answer_blob)).rejects.toThrow("has no blob");
  });

  test("is not kept where there is no space for it: the request is answered, and repeating it is a conflict", async () => {
    const full = new Fault("service_unavailable", "The disk is full.");
    const guard = () => ({ extend: () => Promise.reject(full), end: () => {} });
    await start({ blobs: guardBlobs(files.blobs, [guard]) });
    const key = newKey();
    const ask = () => api(gateway, "ann").post("/things/large", { name: "book" }, key);
    expect((await ask()).status).toBe(201);
    expect(await ask()).toMatchObject({ status: 409, body: { error: { code: "conflict" } } });
    expect(domain.made).toEqual(["book"]);
  });

  test("counts toward the quota of its tenant: what does not fit is not stored, and later nothing is carried out", async () => {
    await gateway.stop();
    await files.remove();
    files = await temporaryStore();
    const { blobs } = files;
    // One answer has 4 MB.
    await start({ env: { TENANT_STORAGE_MB: "6" } });
    const ask = (key: Record<string, string>) =>
      api(gateway, "ann").post("/things/large", { name: "book" }, key);
    const [first, second, third] = [newKey(), newKey(), newKey()];
    const answers = [await ask(first), await ask(first), await ask(second), await ask(second)];
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 409]);
    expect(await blobs.bytesOf("tn_one")).toBeLessThan(6_000_000);
    await blobs.put(new BlobWrite("tn_one"), Buffer.alloc(3_000_000));
    const refused = await ask(third);
    expect([refused.status, refused.body.error.details.rule]).toEqual([422, "storage_quota"]);
    // Stored answers are still returned.
    expect((await ask(first)).status).toBe(201);
    expect(await blobs.erase("tn_one")).toBe(2);
    await settle(async () => (await ask(third)).status === 201);
    expect(domain.made).toEqual(["book", "book", "book"]);
  });

  test("of a request whose node died is taken over, and makes the same id again", async () => {
    const key = newKey();
    const ask = () => api(gateway, "ann").post("/things", { name: "lamp" }, key);
    const first = await ask();
    const { _id } = (await last()) as { _id: string };
    const died = { answered_at: null, answer: null, lease_ends_at: new Date(Date.now() - 1) };
    await records().update("tn_one", { _id }, { $set: died });
    const second = await ask();
    expect([second.status, replayed(second.headers), second.body.id]).toEqual([201, null, first.body.id]);
    expect(domain.made).toEqual(["lamp", "lamp"]);
    expect(domain.firstAt).toEqual([expect.any(Number), domain.firstAt[0]]);
  });

  test("is forgotten after its time: a repetition gets new ids", async () => {
    const key = newKey();
    const first = await api(gateway, "ann").post("/things", { name: "lamp" }, key);
    const { _id } = (await last()) as { _id: string };
    await records().update("tn_one", { _id }, { $set: { expires_at: new Date(Date.now() - 1) } });
    const second = await api(gateway, "ann").post("/things", { name: "chair" }, key);
    expect([second.status, replayed(second.headers)]).toEqual([201, null]);
    expect(second.body.id).not.toBe(first.body.id);
  });
});
