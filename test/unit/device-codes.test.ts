import { beforeEach, expect, test } from "@jest/globals";
import type { Call } from "../../lib/access/caller.ts";
import { openSecretBox } from "../../lib/crypto/secrets.ts";
import type { AgentState } from "../../services/identity/agents/agents.contract.ts";
import { DeviceCodeModel } from "../../services/identity/devices/devices.model.ts";
import { Codes } from "../../services/identity/devices/devices.service.ts";
import { TenantCollection } from "../../storage/collection.ts";
import { ownFolder } from "../support/own-folder.ts";
import { ownStore } from "../support/own-store.ts";

const MINUTE = 60_000;
const CLIENT = { name: "test", version: "1.0", host: "here" };

/** Queries sent to the store. */
let asked: string[];
let agents = 0;

const store = await ownStore();
const { system } = store.collection(DeviceCodeModel);
const counted = new Proxy(system, {
  get(target, name: keyof typeof system) {
    const value = target[name];
    if (typeof value !== "function") return value;
    return (...args: unknown[]) => {
      asked.push(name);
      return (value as (...each: unknown[]) => unknown).apply(target, args);
    };
  },
});
const codes = new Codes(
  new TenantCollection(counted as never),
  await openSecretBox({ SECRET_KEY: null, SECRET_KEY_FALLBACKS: [], DATA_DIR: await ownFolder() }),
);
beforeEach(() => {
  asked = [];
});

const VERSIONS = { tenant_version: 0, token_version: 0 };
const newAgent = () => ({ id: `ag_${++agents}`, tenant_id: "tn_a" }) as AgentState;
/** Answers that tenants and agents are as they were. */
const from = {
  call: async (_: string, { agent_ids }: { agent_ids?: string[] }) =>
    (agent_ids ?? ["tn_a"]).map((id) => ({ id, tenant_id: "tn_a", status: "active", token_version: 0 })),
} as unknown as Pick<Call, "call">;

/** A new code of an agent, at a time. */
async function issued(now = store.now(), agent = newAgent()) {
  const row = await codes.issue(agent, { scopes: ["send"], issued: VERSIONS }, { now, seed: undefined });
  return { agent, now, row, text: codes.textOf(row) };
}

const claim = (text: string, now: number, claim_id = `clm_${text}`) =>
  codes.claim(from, text, claim_id, CLIENT, now);

test("codes have the form that people type, and are good for ten minutes", async () => {
  const { row, text, now } = await issued();
  expect(text).toMatch(/^[BCDFGHJKMNPQRSTVWXYZ2-9]{4}-[BCDFGHJKMNPQRSTVWXYZ2-9]{4}$/);
  expect(row.expires_at.getTime() - now).toBe(10 * MINUTE);
  expect(await claim(text, now + 10 * MINUTE)).toBeNull();
  expect(await claim(text, now + 10 * MINUTE - 1)).toMatchObject({ state: "claimed", client_info: CLIENT });
});

test("neither the code nor the claim stands in the store as it is", async () => {
  const { text, now, agent } = await issued();
  await claim(text, now, "clm_secret");
  const row = await codes.newest("tn_a", agent.id);
  expect(JSON.stringify(row)).not.toMatch(new RegExp(`${text}|clm_secret`));
});

/** A code, after something was done with it. */
async function after(act: (code: Awaited<ReturnType<typeof issued>>) => Promise<unknown>) {
  const code = await issued();
  await act(code);
  return code;
}
const WRONG: [string, () => Promise<{ text: string; now: number }>][] = [
  ["is unknown", async () => ({ text: "BBBB-2222", now: store.now() })],
  ["has run out", async () => ({ ...(await issued(store.now() - 11 * MINUTE)), now: store.now() })],
  ["is superseded", () => after(({ now, agent }) => issued(now + 1, agent))],
  ["is claimed", () => after(({ text, now }) => claim(text, now))],
  [
    "is denied",
    () => after(async ({ text, now }) => codes.decide((await claim(text, now)) as never, null, now)),
  ],
];

test.each(WRONG)(
  "a code that cannot be claimed because it %s takes what every claim takes",
  async (_, make) => {
    const right = await issued();
    asked = [];
    expect(await claim(right.text, right.now)).not.toBeNull();
    const taken = [...asked];
    const { text, now } = await make();
    asked = [];
    expect(await claim(text, now)).toBeNull();
    expect(asked).toEqual(taken);
  },
);

const APPROVAL = { user_id: "usr_a", disablings: 0, token_version: 0, as: "owner", version: 0 } as const;

test("a code that nobody claimed, confirmed or fetched in time is expired, and a key is fetched once", async () => {
  const stateOf = async (agent: AgentState, now: number) =>
    codes.status((await codes.newest(agent.tenant_id, agent.id)) as never, now, true);
  const waiting = await issued();
  expect(await stateOf(waiting.agent, waiting.now + 10 * MINUTE)).toMatchObject({ state: "expired" });
  const { agent, text, now } = await issued();
  const claimed = await claim(text, now);
  expect(await stateOf(agent, now + 10 * MINUTE)).toMatchObject({ state: "expired" });
  const approved = await codes.decide(claimed as never, APPROVAL, now);
  expect(await codes.use(approved as never, now + 10 * MINUTE)).toBe(false);
  expect(await stateOf(agent, now + 10 * MINUTE)).toMatchObject({ state: "expired" });
  const uses = [await codes.use(approved as never, now), await codes.use(approved as never, now)];
  expect(uses).toEqual([true, false]);
  expect(await stateOf(agent, now + 60 * MINUTE)).toMatchObject({ state: "connected" });
});

test("a code supersedes the one before it, whatever the clocks of the nodes that issue them show", async () => {
  const { agent, text, now } = await issued();
  for (const behind of [0, 600, 90_000]) {
    const newer = await issued(now - behind, agent);
    expect(await codes.newest("tn_a", agent.id)).toMatchObject({ _id: newer.row._id });
    expect(await claim(text, now)).toBeNull();
    if (behind === 90_000) expect(await claim(newer.text, now)).toMatchObject({ state: "claimed" });
  }
});
