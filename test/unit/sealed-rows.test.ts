import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { ServiceBroker } from "moleculer";
import { pino } from "pino";
import { SecretBox, SecretError } from "../../lib/crypto/secrets.ts";
import { type AgentDoc, AgentModel } from "../../services/identity/agents/agents.model.ts";
import { SealedRows, SecretKeys } from "../../services/identity/rotation/secret-keys.ts";
import { ConnectorModel, sealedAt } from "../../services/sense/connectors/connectors.model.ts";
import type { Store } from "../../storage/connection.ts";
import { type TemporaryStore, temporaryStore } from "../support/own-store.ts";

const [OLD, NEW] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const old = new SecretBox(OLD);
const both = new SecretBox([NEW, OLD]);
const fresh = new SecretBox(NEW);
const ROWS = 120;

let files: TemporaryStore;
beforeEach(async () => {
  files = await temporaryStore();
  const rows = Array.from({ length: ROWS }, (_, i) => {
    const _id = `con_${i}`;
    return { _id, tenant_id: `tn_${i % 3}`, name: "c", sealed_url: old.seal(`amqp://${i}`, sealedAt(_id)) };
  });
  await files.store.collection(ConnectorModel).insertMany(rows as never);
});
afterEach(() => files.remove());

const never = (err: Error) => {
  throw err;
};

/** The store, where something happens before each update. */
function withEach(before: (filter: { _id: string }) => Promise<void>): Store {
  const collection = (model: never) => {
    return new Proxy(files.store.collection(model), {
      get(target, name) {
        if (name !== "update") return Reflect.get(target, name, target);
        return async (...args: [string, { _id: string }, object]) => {
          await before(args[1]);
          return target.update(...(args as never as Parameters<typeof target.update>));
        };
      },
    });
  };
  return { ...files.store, collection } as unknown as Store;
}

const urls = async (box: SecretBox) => {
  const rows = await files.store.collection(ConnectorModel).system.find({}).toArray();
  return rows.map(({ _id, sealed_url }) => box.open(sealed_url, sealedAt(_id))).sort();
};

test("all texts are sealed again, and a pass that was cut off is continued by the next", async () => {
  const expected = await urls(old);
  let written = 0;
  const dying = withEach(async () => {
    if (++written > ROWS / 2) throw new Error("killed");
  });
  await expect(new SealedRows(dying, both).reseal(never)).rejects.toThrow("killed");
  expect(await new SealedRows(files.store, both).count()).toEqual({ connectors: ROWS / 2 });
  expect(await urls(both)).toEqual(expected);
  expect(await new SealedRows(files.store, both).reseal(never)).toBe(ROWS / 2);
  expect(await new SealedRows(files.store, both).count()).toEqual({});
  expect(await urls(fresh)).toEqual(expected);
  await expect(urls(old)).rejects.toThrow(SecretError);
});

test("a change that comes first is kept", async () => {
  const connectors = files.store.collection(ConnectorModel);
  const sealed_url = both.seal("amqp://changed", sealedAt("con_7"));
  const racing = withEach(async ({ _id }) => {
    if (_id === "con_7") await connectors.update("tn_1", { _id }, { $set: { sealed_url } });
  });
  await new SealedRows(racing, both).reseal(never);
  expect(await connectors.findOne("tn_1", { _id: "con_7" })).toMatchObject({ sealed_url });
});

test("each text of a list is sealed again in its place, and one that no key opens stays and is reported", async () => {
  const agents = files.store.collection(AgentModel);
  const seal = (box: SecretBox, text: string, id: string) => ({
    sealed: box.seal(text, `agents/${id}/signing`),
    ends_at: null,
  });
  const lost = seal(new SecretBox(Buffer.alloc(32, 3)), "lost", "ag_2");
  const given = [
    { _id: "ag_1", signing_secrets: [seal(both, "one", "ag_1"), seal(old, "two", "ag_1")] },
    { _id: "ag_2", signing_secrets: [lost] },
  ];
  await agents.insertMany(given.map((row) => ({ ...row, tenant_id: "tn_1" })) as AgentDoc[]);
  const failed: object[] = [];
  await new SealedRows(files.store, both).reseal((_, row) => failed.push(row));
  expect(failed).toEqual([{ collection: "agents", id: "ag_2" }]);
  const texts = (await agents.findOne("tn_1", { _id: "ag_1" }))?.signing_secrets.map(({ sealed }) =>
    fresh.open(sealed, "agents/ag_1/signing"),
  );
  expect(texts).toEqual(["one", "two"]);
  expect(await agents.findOne("tn_1", { _id: "ag_2" })).toMatchObject({ signing_secrets: [lost] });
});

const node = (secrets: SecretBox, store: Store = files.store) =>
  new SecretKeys({
    ...{ store, secrets, log: pino({ level: "silent" }) },
    config: { REQUEST_TIMEOUT_SECONDS: 1 },
  });

test("a former key is in use until no node encrypts with it, nothing is, and the longest requests are over", async () => {
  let now = Date.UTC(2026, 0, 31);
  const store = { ...files.store, driver: "mongodb", now: () => now } as Store;
  const behind = new SecretBox([OLD, NEW]);
  const [leading, following] = [node(both, store), node(behind, store)];
  const brokerOf = (...boxes: SecretBox[]) => {
    const list = boxes.map(({ keyIds }, i) => ({ id: `n${i}`, metadata: { secret_keys: keyIds } }));
    return { nodeID: "n0", registry: { getNodeList: () => list } } as unknown as ServiceBroker;
  };
  await node(old, store).require();
  await leading.require();
  const inUse = old.keyIds[0];
  // Another node encrypts with it; then it is no longer connected, and may.
  expect(await leading.reseal(brokerOf(both, behind))).toBe(2000);
  expect(await following.reseal(brokerOf(behind, both))).toBe(2000);
  now += 9999;
  expect(await leading.reseal(brokerOf(both))).toBe(2000);
  expect(await leading.rows.count()).toEqual({ connectors: ROWS });
  now += 1;
  expect(await leading.reseal(brokerOf(both))).toBe(true);
  expect(await leading.rows.count()).toEqual({});
  expect(await leading.reseal(brokerOf(both))).toBe(2000);
  now += 1999;
  expect(await leading.reseal(brokerOf(both))).toBe(2000);
  expect(await leading.fallbacksInUse()).toEqual([inUse]);
  now += 1;
  expect(await leading.reseal(brokerOf(both))).toBe(false);
  expect(await leading.fallbacksInUse()).toEqual([]);
});

test("a node without a key of the record does not start, and is told which", async () => {
  await node(old).require();
  await expect(node(fresh).require()).rejects.toThrow(`encrypted with the key ${old.keyIds[0]}`);
  await node(both).require();
  await expect(node(old).require()).rejects.toThrow(`encrypted with the key ${fresh.keyIds[0]}`);
  await node(both).require();
});
