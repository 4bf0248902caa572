import { expect, test } from "@jest/globals";
import { DeviceCodeModel, SessionModel } from "../../services/identity/devices/devices.model.ts";
import type { Store } from "../../storage/connection.ts";
import { api } from "../support/http.ts";
import { meanwhile } from "../support/meanwhile.ts";
import { settle } from "../support/settle.ts";
import { connectDevice, makeWorld, OPERATOR_TOKEN, ok, refused } from "../support/tenancy.ts";
import { useAlone } from "../support/use.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

const server = await useAlone({ env: { OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" } });
const world = await makeWorld(server, "times");
const device = api(server);

const newAgent = async () =>
  ok(await world.admin.post("/agents", { name: "a", delivery_mode: "poll" })).id as string;
const issue = async (agent: string) => ok(await world.admin.post(`/agents/${agent}/device-code`, {}));
const claim = (user_code: string) =>
  device.post("/device-codes:claim", { user_code, client_info: { name: "c", version: "1", host: "h" } });
const confirm = (agent: string, claim_id: string) =>
  world.admin.post(`/agents/${agent}/device-code:confirm`, { claim_id, action: "approve" });
const complete = (claim_id: string) => device.post("/device-codes:complete", { claim_id });
const statusOf = async (agent: string) => ok(await world.admin.get(`/agents/${agent}/device-code`)).state;
const sessionsOf = async (agent: string) => ok(await world.admin.get(`/agents/${agent}/sessions`)).sessions;

/** Lets what agents have of devices be older by so much. */
function pass(agents: string[], ms: number): Promise<void> {
  return meanwhile(server, async (store: Store) => {
    const codes = store.collection(DeviceCodeModel);
    const sessions = store.collection(SessionModel);
    await store.ready();
    const ago = (at: Date | null) => at && new Date(at.getTime() - ms);
    for (const agent_id of agents) {
      for (const { _id, tenant_id, expires_at } of await codes.find(world.tenant_id, { agent_id }))
        await codes.update(tenant_id, { _id }, { $set: { expires_at: ago(expires_at) as Date } });
      for (const { _id, tenant_id, ...row } of await sessions.find(world.tenant_id, { agent_id })) {
        const last_seen_at = ago(row.last_seen_at) as Date;
        const [last_heartbeat_at, fetch_by] = [ago(row.last_heartbeat_at), ago(row.fetch_by)];
        const $set = { last_seen_at, last_heartbeat_at, fetch_by };
        await sessions.update(tenant_id, { _id }, { $set });
      }
    }
  });
}

test("a device that is not seen for 24 hours is idle, and active again by its next heartbeat", async () => {
  const [quiet, seen] = [await newAgent(), await newAgent()];
  const { session_id, access_token } = await connectDevice(world.admin, quiet);
  await connectDevice(world.admin, seen);
  await pass([quiet], 24 * HOUR_MS + MINUTE_MS);
  await pass([seen], 24 * HOUR_MS - 10 * MINUTE_MS);
  expect(await sessionsOf(quiet)).toMatchObject([{ session_id, state: "idle" }]);
  expect(await sessionsOf(seen)).toMatchObject([{ state: "active" }]);
  // It is still let in: idle is what it looks like, not what it may.
  const beat = ok(await api(server, access_token).post(`/sessions/${session_id}/heartbeat`));
  expect(await sessionsOf(quiet)).toMatchObject([{ state: "active", last_activity_at: beat.last_seen_at }]);
});

test("whatever a code is in, it ends with its time", async () => {
  const [waiting, verifying, approved] = [await newAgent(), await newAgent(), await newAgent()];
  const code = (await issue(waiting)).user_code;
  const claimed = ok(await claim((await issue(verifying)).user_code)).claim_id;
  const granted = ok(await claim((await issue(approved)).user_code)).claim_id;
  ok(await confirm(approved, granted));
  const all = [waiting, verifying, approved];
  expect(await Promise.all(all.map(statusOf))).toEqual(["waiting", "verifying", "connected"]);
  expect(await sessionsOf(approved)).toMatchObject([{ state: "active" }]);

  await pass(all, 11 * MINUTE_MS);
  expect(await Promise.all(all.map(statusOf))).toEqual(["expired", "expired", "expired"]);
  for (const answer of [
    await claim(code),
    await device.get(`/device-codes/${code}`),
    await confirm(verifying, claimed),
    await complete(granted),
  ])
    await refused(answer, "not_found");
  await settle(async () => (await sessionsOf(approved)).length === 0);
  expect(await world.admin.get(`/agents/${approved}/keys`)).toMatchObject({ body: { keys: [] } });
});

test("a device whose key was revoked is out, and its session can be ended", async () => {
  const agent = await newAgent();
  const { session_id, access_token, api_key } = await connectDevice(world.admin, agent);
  const [{ id }] = ok(await world.admin.get(`/agents/${agent}/keys`)).keys;
  expect(await world.admin.del(`/agents/${agent}/keys/${id}`)).toMatchObject({ status: 204 });
  const self = api(server, access_token);
  await settle(async () => (await self.post(`/sessions/${session_id}/heartbeat`)).status === 401);
  expect(await device.post("/auth/token", { api_key })).toMatchObject({ status: 401 });
  expect(await world.admin.del(`/agents/${agent}/sessions/${session_id}`)).toMatchObject({ status: 204 });
  expect(await sessionsOf(agent)).toEqual([]);
});
