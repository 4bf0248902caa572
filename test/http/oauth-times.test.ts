import { expect, test } from "@jest/globals";
import { DAY_MS, MINUTE_MS } from "../../lib/time.ts";
import { ClientModel, DeviceModel, GrantModel } from "../../services/identity/oauth/oauth.model.ts";
import type { Store } from "../../storage/connection.ts";
import { INSTALLATION } from "../../storage/model.ts";
import { api } from "../support/http.ts";
import { meanwhile } from "../support/meanwhile.ts";
import { approve, attempt, connect, exchange, refresh, registered } from "../support/oauth.ts";
import { settle } from "../support/settle.ts";
import { ok, refused } from "../support/tenancy.ts";
import { useAlone } from "../support/use.ts";

// Expiry of codes, refresh tokens, and clients that nobody uses.

const env = { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none", DEVICE_CLAIMS_PER_HOUR: "6" };
const server = await useAlone({ env });
const admin = api(server, ok(await api(server).post("/auth/login", server.credentials.admin)).access_token);
const agent_id = server.credentials.agent.id;
const client = await registered(server);

/** Lets everything be older by so much. */
function pass(ms: number): Promise<void> {
  return meanwhile(server, async (store: Store) => {
    await store.ready();
    const ago = ({ expires_at }: { expires_at: Date }) => ({
      $set: { expires_at: new Date(expires_at.getTime() - ms) },
    });
    const { tenant_id } = server.credentials;
    const grants = store.collection(GrantModel);
    for (const row of await grants.find(tenant_id, {}))
      await grants.update(tenant_id, { _id: row._id }, ago(row));
    for (const rows of [store.collection(ClientModel), store.collection(DeviceModel)] as const)
      for (const row of await rows.find(INSTALLATION, {}))
        await rows.update(INSTALLATION, { _id: row._id }, ago(row) as never);
  });
}

const sessions = async () => ok(await admin.get(`/agents/${agent_id}/sessions`)).sessions;
const keys = async () => ok(await admin.get(`/agents/${agent_id}/keys`)).keys;

test("a code and a device's code end with their time", async () => {
  const asked = await attempt(client);
  const answer = await approve(admin, asked.query, agent_id);
  const grant_types = ["urn:ietf:params:oauth:grant-type:device_code"];
  const device = await registered(server, { grant_types });
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const begun = await api(server).post(
    `${server.root}/oauth/device`,
    `client_id=${device.client.client_id}`,
    form,
  );
  await pass(11 * MINUTE_MS);
  await expect(exchange(client, answer, asked)).rejects.toMatchObject({ error: "invalid_grant" });
  const query = `user_code=${ok(begun).user_code}`;
  await refused(admin.post("/oauth/request", { query }), "not_found");
});

test("a connection that is not used for 30 days is over, with its key and its place in the list", async () => {
  const before = (await keys()).length;
  const { access_token, refresh_token } = await connect(client, admin, agent_id, { resource: server.root });
  const used = await refresh(client, refresh_token as string);
  expect([(await sessions()).length, (await keys()).length]).toEqual([1, before + 1]);
  await pass(29 * DAY_MS);
  const again = await refresh(client, used.refresh_token as string);
  await pass(31 * DAY_MS);
  await expect(refresh(client, again.refresh_token as string)).rejects.toMatchObject({
    error: "invalid_grant",
  });
  await settle(async () => (await sessions()).length === 0 && (await keys()).length === before);
  expect((await api(server, access_token).get("/auth/me")).status).toBe(401);
});

test("a client that nobody has approved is forgotten after a day, and one in use is not", async () => {
  const unused = await registered(server);
  await connect(client, admin, agent_id);
  await pass(DAY_MS + MINUTE_MS);
  const { query } = await attempt(unused);
  await refused(admin.post("/oauth/request", { query }), "validation_error", "client_id");
  ok(await admin.post("/oauth/request", { query: (await attempt(client)).query }));
});

test("registrations of an address are limited, over restarts", async () => {
  const register = () =>
    api(server).post(`${server.root}/oauth/register`, { redirect_uris: ["http://127.0.0.1/callback"] });
  await settle(async () => (await register()).status === 429);
  const refused = await register();
  expect(refused.body).toEqual({ error: "temporarily_unavailable", error_description: expect.any(String) });
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(60);
  await server.restart();
  expect((await register()).status).toBe(429);
});
