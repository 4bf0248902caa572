import { expect, test } from "@jest/globals";
import type { AgentCaller, Call, Caller, UserCaller } from "../../lib/access/caller.ts";
import type { EndedTokenDoc } from "../../services/identity/auth/auth.model.ts";
import { currentCallers } from "../../services/identity/auth/callers.ts";
import type { TenantCollection } from "../../storage/collection.ts";

const NOW = 1_000_000;

const agentCaller: AgentCaller = {
  ...{ kind: "agent", tenant_id: "tn_a", agent_id: "ag_1", team_id: null, key_id: "key_1" },
  ...{ scopes: ["send", "receive"], token_id: "tok_1", token_version: 3, tenant_version: 7 },
  expires_at: NOW + 1,
};
const userCaller: UserCaller = {
  ...{ kind: "user", tenant_id: "tn_a", user_id: "usr_1", role: "admin", session_id: "ses_1" },
  ...{ scopes: ["admin"], token_id: "tok_2", token_version: 2, tenant_version: 7 },
  expires_at: NOW + 1,
};

/** The stored rows that a caller depends on. */
const STORED = {
  "tenants.get_many": { id: "tn_a", status: "active", token_version: 7 },
  "keys.of_tokens": { id: "key_1", agent_id: "ag_1", scopes: ["send", "receive"], approved_by: null },
  "agents.of_tokens": { id: "ag_1", tenant_id: "tn_a", status: "active", token_version: 3, team_id: null },
  "users.of_tokens": { id: "usr_1", tenant_id: "tn_a", token_version: 2, role: "member" },
} as const;

type Kind = keyof typeof STORED;

/** The caller as it is now, where one stored row is different or absent, or a token or session has ended. */
async function current(
  caller: Caller,
  { of, row, ended = [] }: { of?: Kind; row?: object | null; ended?: string[] } = {},
): Promise<Caller | null> {
  const call = async (action: Kind) => {
    if (action !== of) return [STORED[action]];
    return row === null ? [] : [{ ...STORED[action], ...row }];
  };
  const system = {
    find: ({ _id }: { _id: { $in: string[] } }) => ({
      toArray: async () => ended.filter((id) => _id.$in.includes(id)).map((id) => ({ _id: id })),
    }),
  };
  const tokens = { system } as unknown as TenantCollection<EndedTokenDoc>;
  const [found] = await currentCallers({ call } as unknown as Call, tokens, NOW, [caller]);
  return found as Caller | null;
}

test("an agent and a person are who they are now", async () => {
  expect(await current(agentCaller)).toEqual(agentCaller);
  expect(await current(userCaller)).toMatchObject({
    role: "member",
    scopes: expect.not.arrayContaining(["admin"]),
  });
});

test.each<[string, Caller, Parameters<typeof current>[1]]>([
  ["has expired", { ...agentCaller, expires_at: NOW }, {}],
  ["was revoked", agentCaller, { ended: ["tok_1"] }],
  ["is of a session that was ended", userCaller, { ended: ["ses_1"] }],
  ["is of a tenant that is gone", agentCaller, { of: "tenants.get_many", row: null }],
  ["is of a tenant suspended since", agentCaller, { of: "tenants.get_many", row: { token_version: 8 } }],
  ["is of a revoked key", agentCaller, { of: "keys.of_tokens", row: null }],
  ["is of another agent's key", agentCaller, { of: "keys.of_tokens", row: { agent_id: "ag_2" } }],
  ["is of a deleted agent", agentCaller, { of: "agents.of_tokens", row: null }],
  ["is of an inactive agent", agentCaller, { of: "agents.of_tokens", row: { status: "inactive" } }],
  ["is of an agent inactive since", agentCaller, { of: "agents.of_tokens", row: { token_version: 4 } }],
  ["is of another tenant's agent", agentCaller, { of: "agents.of_tokens", row: { tenant_id: "tn_b" } }],
  ["is of a disabled person", userCaller, { of: "users.of_tokens", row: null }],
  ["is of another tenant's person", userCaller, { of: "users.of_tokens", row: { tenant_id: "tn_b" } }],
  ["is of an earlier password", userCaller, { of: "users.of_tokens", row: { token_version: 3 } }],
])("a token is refused that %s", async (_, caller, stored) =>
  expect(await current(caller, stored)).toBeNull(),
);

test("a token of a suspended tenant is told apart", async () => {
  const suspended = { of: "tenants.get_many", row: { status: "suspended" } } as const;
  expect(await current(agentCaller, suspended)).toBe("suspended");
});

test("a token keeps no scope that its key does not have", async () => {
  const less = { of: "keys.of_tokens", row: { scopes: ["send"] } } as const;
  expect(await current(agentCaller, less)).toMatchObject({ scopes: ["send"] });
  const all = { of: "keys.of_tokens", row: { scopes: ["admin"] } } as const;
  expect(await current(agentCaller, all)).toMatchObject({ scopes: ["send", "receive"] });
});
