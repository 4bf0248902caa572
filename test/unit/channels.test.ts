import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { operationsIn } from "../../lib/contract/contract.ts";
import type { Runtime } from "../../services/runtime.ts";
import * as channels from "../../services/sense/channels/channels.contract.ts";
import { ChannelModel, FeedModel, MemberModel } from "../../services/sense/channels/channels.model.ts";
import { channelsService } from "../../services/sense/channels/channels.service.ts";
import type { Model } from "../../storage/model.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { type Api, api } from "../support/http.ts";
import { type TemporaryStore, temporaryStore } from "../support/own-store.ts";

let files: TemporaryStore;
let gateway: TestGateway;
let admin: Api;
/** Hooks that run before a row is added to a channel and before a channel is deleted. */
let between: { adding: () => Promise<unknown>; deleting: () => Promise<unknown> };

const once = (run: () => Promise<unknown>) => {
  let todo = run;
  return () => {
    const now = todo;
    todo = async () => {};
    return now();
  };
};

beforeEach(() => {
  between = { adding: async () => {}, deleting: async () => {} };
});
beforeAll(async () => {
  files = await temporaryStore();
  gateway = await startGateway({
    operations: operationsIn(channels),
    services: [
      channelsService({ store: withPauses() } as unknown as Runtime),
      { name: "agents", actions: { get_many: async () => [{ status: "active" }] } },
      { name: "interests", actions: { admit_feed: async () => [] } },
      { name: "tenants", actions: { bump_routing: async () => 1 } },
    ],
    store: files.store,
    blobs: files.blobs,
  });
  admin = api(gateway, "ann");
});
afterAll(async () => {
  await gateway?.stop();
  await files.remove();
});

/** The store, with pauses for it. */
function withPauses() {
  const { store } = files;
  const collection = (model: Model<never>) => {
    const rows = store.collection(model);
    const { insert, delete: remove } = rows;
    const isChannel = model.name === ChannelModel.name;
    if (!isChannel) rows.insert = async (doc) => between.adding().then(() => insert.call(rows, doc));
    if (isChannel) rows.delete = async (...which) => between.deleting().then(() => remove.apply(rows, which));
    return rows;
  };
  return { now: () => store.now(), collection };
}

const newChannel = async () => `/channels/${(await admin.post("/channels", { name: "desk" })).body.id}`;

async function rowsLeft(): Promise<number> {
  const { store } = files;
  return (
    (await store.collection(MemberModel).count("tn_one", {})) +
    (await store.collection(FeedModel).count("tn_one", {}))
  );
}

const ADDITIONS: [string, object][] = [
  ["members", { agent_id: "ag_bob" }],
  ["feeds", { event_type_glob: "com.*" }],
];

test.each(ADDITIONS)(
  "does not keep %s added during a deletion: the channel is not found",
  async (what, body) => {
    const channel = await newChannel();
    between.adding = once(() => admin.del(channel));
    expect((await admin.post(`${channel}/${what}`, body)).status).toBe(404);
    expect(await rowsLeft()).toBe(0);
  },
);

test.each(ADDITIONS)("%s that come while a channel is being deleted go with it", async (what, body) => {
  const channel = await newChannel();
  between.deleting = once(async () =>
    expect((await admin.post(`${channel}/${what}`, body)).status).toBe(201),
  );
  expect((await admin.del(channel)).status).toBe(204);
  expect(await rowsLeft()).toBe(0);
});
