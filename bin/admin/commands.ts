import type { Operation } from "../../lib/contract/contract.ts";
import { defined } from "../../lib/defined.ts";
import { createAgent, listAgents } from "../../services/identity/agents/agents.contract.ts";
import { createKey, listKeys, revokeKey, updateKey } from "../../services/identity/keys/keys.contract.ts";
import * as rotation from "../../services/identity/rotation/rotation.contract.ts";
import * as tenants from "../../services/identity/tenants/tenants.contract.ts";
import { createUser, listUsers, updateUser } from "../../services/identity/users/users.contract.ts";
import * as nodes from "../../services/platform/nodes/nodes.contract.ts";
import * as connectors from "../../services/sense/connectors/connectors.contract.ts";
import { MOVE_COMMANDS } from "./move.ts";
import {
  AdminError,
  all,
  type Command,
  option,
  readGiven,
  type Target,
  type Typed,
  tenantOf,
  word,
} from "./typed.ts";

/**
 * Commands on connectors, which a file describes: a broker's address contains a password that must not be on a command
 * line.
 */
const CONNECTOR_COMMANDS: Record<string, Command> = {
  "connectors create": {
    takes: "--file FILE",
    does: "Create a connector; FILE contains the JSON body of POST /ingest/connectors",
    run: async (target, typed) => target.call(connectors.createConnector, await described(typed)),
  },
  "connectors list": listing(
    "List the connectors with their state, last error, counts and lag",
    connectors.listConnectors,
    "connectors",
  ),
  "connectors update": {
    takes: "CONNECTOR_ID --file FILE",
    does: "Change a connector; FILE contains the JSON body of PATCH /ingest/connectors/{id}",
    run: async (target, typed) => change(target, typed, await described(typed)),
  },
  "connectors pause": {
    takes: "CONNECTOR_ID",
    does: "Pause a connector; messages stay at the broker",
    run: (target, typed) => change(target, typed, { paused: true }),
  },
  "connectors resume": {
    takes: "CONNECTOR_ID",
    does: "Resume a paused connector",
    run: (target, typed) => change(target, typed, { paused: false }),
  },
  "connectors delete": {
    takes: "CONNECTOR_ID",
    does: "Delete a connector after its messages in progress",
    run: async (target, typed) => {
      const connector_id = readId(typed);
      await target.call(connectors.deleteConnector, { connector_id });
      return { deleted: connector_id };
    },
  },
};

const readId = (typed: Typed) => word(typed, 0, "CONNECTOR_ID");

function change(target: Target, typed: Typed, fields: Record<string, unknown>): Promise<unknown> {
  return target.call(connectors.updateConnector, { ...fields, connector_id: readId(typed) });
}

/** @throws AdminError with the file's name but never its content */
async function described(typed: Typed): Promise<Record<string, unknown>> {
  const file = option(typed, "file");
  const text = await readGiven("file", file);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new AdminError(`--file: ${file} does not contain valid JSON.`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new AdminError(`--file: ${file} does not contain a JSON object.`);
}

/** Commands without arguments. */
function calling(does: string, op: Operation, params: Row = {}): Command {
  return { takes: "", does, run: (target) => target.call(op, params) };
}

function listing(does: string, op: Operation, name: string): Command {
  return { takes: "", does, run: (target) => all(target, op, name) };
}

export const COMMANDS: Record<string, Command> = {
  "tenants create": {
    takes: "--slug SLUG --name NAME --admin-email EMAIL",
    does: "Create a tenant; shows its admin's password and its first key once",
    run: (target, typed) =>
      target.call(tenants.createTenant, {
        slug: option(typed, "slug"),
        name: option(typed, "name"),
        admin_email: option(typed, "admin-email"),
      }),
  },
  "tenants list": listing("List the tenants", tenants.listTenants, "tenants"),
  "tenants suspend": {
    takes: "SLUG",
    does: "Suspend a tenant: refuse all its tokens",
    run: (target, typed) => changeTenant(target, typed, { status: "suspended" }),
  },
  "tenants activate": {
    takes: "SLUG",
    does: "Reactivate a suspended tenant",
    run: (target, typed) => changeTenant(target, typed, { status: "active" }),
  },
  "tenants quota": {
    takes: "SLUG --storage-mb MEGABYTES|default",
    does: "Set the storage quota of a tenant; 0 for no quota",
    run: (target, typed) =>
      changeTenant(target, typed, { storage_quota_mb: wholeOr("default", typed, "storage-mb") }),
  },
  "tenants usage": {
    takes: "[--hours HOURS] [--sort KIND]",
    does: "List the tenants by what they use, largest first; KIND: cpu_ms, requests, events, …",
    run: (target, { options: { hours, sort } }) =>
      all(target, tenants.listTenantUsage, "tenants", {
        ...(hours !== undefined && { hours: whole("hours", hours) }),
        ...defined({ sort }),
      }),
  },
  "tenants limit": {
    takes: "SLUG --requests-per-minute REQUESTS|default",
    does: "Limit the requests of a tenant; 0 for no limit",
    run: (target, typed) =>
      changeTenant(target, typed, {
        requests_per_minute: wholeOr("default", typed, "requests-per-minute"),
      }),
  },
  "tenants erase": {
    takes: "SLUG --confirm SLUG",
    does: "Erase a tenant with all its data, permanently; shows the receipt",
    run: async (target, typed) => {
      const { id, slug } = await tenantOf(target, typed);
      if (option(typed, "confirm") !== slug)
        throw new AdminError(`--confirm: expected "${slug}", the slug of the tenant to erase.`);
      return target.call(tenants.eraseTenant, { tenant_id: id });
    },
  },
  rotate: {
    takes: "[--keys secret,signing] [--at-once] [--status] [--finish]",
    does: "Replace the installation's keys; shows them; removes the former ones",
    run: (target, { options: { keys }, flags }) => {
      const asked = [keys !== undefined || flags.has("at-once"), flags.has("status"), flags.has("finish")];
      if (asked.filter(Boolean).length > 1)
        throw new AdminError("Give one of --status, --finish, or what to replace with --keys and --at-once.");
      if (flags.has("status")) return target.call(rotation.readRotation, {});
      if (flags.has("finish")) return target.call(rotation.finishRotation, {});
      return target.call(rotation.startRotation, {
        ...(keys !== undefined && { keys: keys.split(",") }),
        at_once: flags.has("at-once"),
      });
    },
  },
  nodes: calling("List the nodes: versions, clocks, links, indexes, queues, disks", nodes.listNodes),
  doctor: {
    takes: "",
    does: "Check all nodes; fails if something is wrong",
    run: async (target) => {
      const { ok, problems } = await target.call(nodes.listNodes, {});
      if (ok) return { ok, problems };
      const lines = (problems as nodes.Problem[]).map(
        ({ severity, node, check, text }) => `${severity}: ${node ?? "installation"}: ${check}: ${text}`,
      );
      throw new AdminError(lines.join("\n"));
    },
  },
  "maintenance on": {
    takes: "[--reason TEXT]",
    does: "Refuse writes on all nodes, without a restart; TEXT is shown to callers",
    run: (target, { options }) =>
      target.call(nodes.updateInstallation, { maintenance: true, reason: options.reason ?? null }),
  },
  "maintenance off": calling("End maintenance", nodes.updateInstallation, { maintenance: false }),
  "maintenance show": calling(
    "Show maintenance and log level, and which nodes follow",
    nodes.getInstallation,
  ),
  "log level": {
    takes: "LEVEL|default",
    does: "Set the log level of all nodes, without a restart: trace, debug, info, warn, error or fatal",
    run: (target, typed) => {
      const level = word(typed, 0, "LEVEL");
      return target.call(nodes.updateInstallation, { log_level: level === "default" ? null : level });
    },
  },
  "users create": {
    takes: "--user-email EMAIL [--name NAME] [--role admin|member]",
    does: "Invite a person; shows the password once",
    run: (target, typed) =>
      target.call(createUser, {
        email: option(typed, "user-email"),
        ...defined({ display_name: typed.options.name, role: typed.options.role }),
      }),
  },
  "users list": listing("List the people", listUsers, "users"),
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
  "agents list": listing("List the agents", listAgents, "agents"),
  "keys create": {
    takes: "AGENT_ID --scopes SCOPE,… [--expires-at TIME]",
    does: "Create an API key; shows it once",
    run: (target, typed) =>
      target.call(createKey, {
        agent_id: word(typed, 0, "AGENT_ID"),
        scopes: option(typed, "scopes").split(","),
        ...defined({ expires_at: typed.options["expires-at"] }),
      }),
  },
  "keys list": {
    takes: "AGENT_ID",
    does: "List an agent's keys",
    run: (target, typed) => all(target, listKeys, "keys", { agent_id: word(typed, 0, "AGENT_ID") }),
  },
  "keys limit": {
    takes: "AGENT_ID KEY_ID --requests-per-minute REQUESTS|none",
    does: "Limit the requests with a key",
    run: (target, typed) =>
      target.call(updateKey, {
        agent_id: word(typed, 0, "AGENT_ID"),
        key_id: word(typed, 1, "KEY_ID"),
        requests_per_minute: wholeOr("none", typed, "requests-per-minute"),
      }),
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

type Row = Record<string, unknown>;

function whole(name: string, value: string, or = ""): number {
  if (/^\d+$/.test(value)) return Number(value);
  throw new AdminError(`--${name} is ${value}: expected a whole number${or}.`);
}

/** @returns null for the word that stands for none */
function wholeOr(none: string, typed: Typed, name: string): number | null {
  const value = option(typed, name);
  return value === none ? null : whole(name, value, `, or "${none}"`);
}

async function changeTenant(target: Target, typed: Typed, change: Row): Promise<unknown> {
  const { id: tenant_id } = await tenantOf(target, typed);
  return target.call(tenants.updateTenant, { tenant_id, ...change });
}

async function changeUser(target: Target, typed: Typed, change: Row): Promise<unknown> {
  const email = word(typed, 0, "EMAIL").toLowerCase();
  const user = (await all(target, listUsers, "users")).find((each) => each.email === email);
  if (!user)
    throw new AdminError(`There is no user with the e-mail ${email}. The command users list shows all.`);
  return target.call(updateUser, { user_id: user.id, ...change });
}
