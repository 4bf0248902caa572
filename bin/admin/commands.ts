import { createAgent, listAgents } from "../../services/identity/agents/agents.contract.ts";
import { createKey, listKeys, revokeKey } from "../../services/identity/keys/keys.contract.ts";
import {
  createTenant,
  eraseTenant,
  listTenants,
  updateTenant,
} from "../../services/identity/tenants/tenants.contract.ts";
import { createUser, listUsers, updateUser } from "../../services/identity/users/users.contract.ts";
import { CONNECTOR_COMMANDS } from "./connectors.ts";
import { MOVE_COMMANDS } from "./move.ts";
import { AdminError, type Target } from "./target.ts";
import { all, type Command, option, type Typed, tenantOf, word } from "./typed.ts";

export const COMMANDS: Record<string, Command> = {
  "tenants create": {
    takes: "--slug SLUG --name NAME --admin-email EMAIL",
    does: "Create a tenant; shows its admin's password and its first key once",
    run: (target, typed) =>
      target.call(createTenant, {
        slug: option(typed, "slug"),
        name: option(typed, "name"),
        admin_email: option(typed, "admin-email"),
      }),
  },
  "tenants list": {
    takes: "",
    does: "List the tenants",
    run: (target) => all(target, listTenants, "tenants"),
  },
  "tenants suspend": {
    takes: "SLUG",
    does: "Suspend a tenant: refuse all its tokens",
    run: (target, typed) => setTenantStatus(target, typed, "suspended"),
  },
  "tenants activate": {
    takes: "SLUG",
    does: "Reactivate a suspended tenant",
    run: (target, typed) => setTenantStatus(target, typed, "active"),
  },
  "tenants quota": {
    takes: "SLUG --storage-mb MEGABYTES|default",
    does: "Set the storage quota of a tenant; 0 for no quota",
    run: async (target, typed) => {
      const { id } = await tenantOf(target, typed);
      return target.call(updateTenant, {
        tenant_id: id,
        storage_quota_mb: megabytes(option(typed, "storage-mb")),
      });
    },
  },
  "tenants erase": {
    takes: "SLUG --confirm SLUG",
    does: "Erase a tenant with all its data, permanently; shows the receipt",
    run: async (target, typed) => {
      const { id, slug } = await tenantOf(target, typed);
      if (option(typed, "confirm") !== slug)
        throw new AdminError(`--confirm: expected "${slug}", the slug of the tenant to erase.`);
      return target.call(eraseTenant, { tenant_id: id });
    },
  },
  "users create": {
    takes: "--user-email EMAIL [--name NAME] [--role admin|member]",
    does: "Invite a person; shows the password once",
    run: (target, typed) =>
      target.call(createUser, {
        email: option(typed, "user-email"),
        ...given({ display_name: typed.options.name, role: typed.options.role }),
      }),
  },
  "users list": { takes: "", does: "List the people", run: (target) => all(target, listUsers, "users") },
  "users disable": {
    takes: "EMAIL",
    does: "Disable a person: refuse their tokens and sign-in",
    run: (target, typed) => changeUser(target, typed, { status: "disabled" }),
  },
  "users enable": {
    takes: "EMAIL",
    does: "Enable a disabled person",
    run: (target, typed) => changeUser(target, typed, { status: "active" }),
  },
  "users reset-password": {
    takes: "EMAIL",
    does: "Reset a person's password; shows the new one once",
    run: (target, typed) => changeUser(target, typed, { reset_password: true }),
  },
  "agents create": {
    takes: "--name NAME [--mode poll|push|sse]",
    does: "Create an agent; shows its signing secret once",
    run: (target, typed) =>
      target.call(createAgent, {
        name: option(typed, "name"),
        delivery_mode: typed.options.mode ?? "poll",
        owner_user_id: null,
      }),
  },
  "agents list": { takes: "", does: "List the agents", run: (target) => all(target, listAgents, "agents") },
  "keys create": {
    takes: "AGENT_ID --scopes SCOPE,… [--expires-at TIME]",
    does: "Create an API key; shows it once",
    run: (target, typed) =>
      target.call(createKey, {
        agent_id: word(typed, 0, "AGENT_ID"),
        scopes: option(typed, "scopes").split(","),
        ...given({ expires_at: typed.options["expires-at"] }),
      }),
  },
  "keys list": {
    takes: "AGENT_ID",
    does: "List an agent's keys",
    run: (target, typed) => all(target, listKeys, "keys", { agent_id: word(typed, 0, "AGENT_ID") }),
  },
  "keys revoke": {
    takes: "AGENT_ID KEY_ID",
    does: "Revoke a key",
    run: async (target, typed) => {
      const [agent_id, key_id] = [word(typed, 0, "AGENT_ID"), word(typed, 1, "KEY_ID")];
      await target.call(revokeKey, { agent_id, key_id });
      return { revoked: key_id };
    },
  },
  ...CONNECTOR_COMMANDS,
  ...MOVE_COMMANDS,
};

function given(fields: Record<string, string | undefined>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

type Row = Record<string, unknown>;

function megabytes(typed: string): number | null {
  if (typed === "default") return null;
  if (/^\d+$/.test(typed)) return Number(typed);
  throw new AdminError(`--storage-mb is ${typed}: expected a whole number of megabytes, or "default".`);
}

async function setTenantStatus(target: Target, typed: Typed, status: string): Promise<unknown> {
  const { id } = await tenantOf(target, typed);
  return target.call(updateTenant, { tenant_id: id, status });
}

async function changeUser(target: Target, typed: Typed, change: Row): Promise<unknown> {
  const email = word(typed, 0, "EMAIL").toLowerCase();
  const user = (await all(target, listUsers, "users")).find((each) => each.email === email);
  if (!user)
    throw new AdminError(`There is no user with the e-mail ${email}. The command users list shows all.`);
  return target.call(updateUser, { user_id: user.id, ...change });
}
