import { expect, test } from "@jest/globals";
import type { IdempotencyDoc } from "../../services/edge/idempotency/idempotency.model.ts";
import { decideFate, judge, readResourceId, recordId } from "../../services/edge/idempotency/keys.ts";

const NOW = 1_800_000_000_000;
const at = (offset: number) => new Date(NOW + offset);

const record = (fields: Partial<IdempotencyDoc>): IdempotencyDoc => ({
  ...{ _id: "r", tenant_id: "tn_1", caller_id: "ag_1", fingerprint: "same", nonce: "n", lease: "l" },
  ...{ lease_ends_at: at(1), answered_at: null, answer: null, resource_id: null, expires_at: at(1000) },
  ...fields,
});
const answered = { answered_at: at(-5), answer: "{}" };

test.each<[string, Partial<IdempotencyDoc>, string]>([
  ["waits while the first is running", {}, "wait"],
  ["takes over when its lease is over", { lease_ends_at: at(0) }, "take_over"],
  ["gets its answer", answered, "replay"],
  ["gets its answer while the secret in it is kept", { ...answered, secret_ends_at: at(1) }, "replay"],
  ["is told so when the secret's time is over", { ...answered, secret_ends_at: at(0) }, "answered"],
  ["is told so when the answer was not kept", { ...answered, answer: null }, "answered"],
  ["is another one, even while the first is running", { fingerprint: "other" }, "other_request"],
  ["is another, though the first failed", { fingerprint: "other", lease_ends_at: at(-9) }, "other_request"],
  ["begins when the key's time is over", { ...answered, fingerprint: "other", expires_at: at(0) }, "begin"],
])("a request with a key that is known: %s", (_name, fields, verdict) =>
  expect(judge(record(fields), "same", NOW, false)).toBe(verdict),
);

test("a request takes over at once from one whose process is gone, but not its answer", () => {
  expect(judge(record({}), "same", NOW, true)).toBe("take_over");
  expect(judge(record(answered), "same", NOW, true)).toBe("replay");
});

test("the answer's status decides whether a key is kept", () => {
  const fates = [200, 201, 202, 204, 400, 403, 404, 409, 413, 422, 401, 429, 500, 503].map(decideFate);
  expect(fates).toEqual([...Array(10).fill("keep"), "free", "free", "reopen", "reopen"]);
});

test("keys of different tenants, callers and texts are different", () => {
  const ids = [
    ["t", "a", "k"],
    ["t", "ak", ""],
    ["ta", "", "k"],
    ["t", "a", "k2"],
  ].map(([t, c, k]) => recordId(t as string, c as string, k as string));
  expect(new Set(ids).size).toBe(4);
  expect(recordId("t", "a", "k")).toBe(ids[0]);
});

test.each([
  ['{"id":"ag_1","event_id":"evt_1"}', "ag_1"],
  ['{"event_id":"evt_1"}', "evt_1"],
  ['{"id":7}', null],
  ["[1]", null],
  [null, null],
])("the resource that %s speaks of is %s", (body, id) =>
  expect(readResourceId({ status: 201, type: "", headers: {}, base64: false, body })).toBe(id),
);
