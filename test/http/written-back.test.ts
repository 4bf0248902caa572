import { describe, expect, test } from "@jest/globals";
import type { Operation } from "../../lib/contract/contract.ts";
import { operations } from "../../services/contracts.ts";
import type { Api, Json } from "../support/http.ts";
import { loadKits } from "../support/kits.ts";
import { identifierKind } from "../support/sample.ts";
import { makeId, makeWorld, ok } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared("local");
const mine = await makeWorld(server, "mine");
for (const kit of await loadKits()) await kit.settle?.(mine);

type Resource = Json;

/** Resources without a read operation. */
const LISTED = new Set(["/projects/{key}", "/users/{user_id}"]);

/** The kind of identifier of what a path creates; null where a copy makes no sense. */
const KIND_OF: Record<string, string | null> = {
  ...{ "/agents": "ag", "/approvals": "approval", "/channels": "ch" },
  ...{ "/channels/{channel_id}/feeds": "feed", "/ingest/connectors": "con", "/handoffs": "handoff" },
  ...{ "/ingest/webhooks": "whk", "/agents/{agent_id}/interests": "int", "/agents/{agent_id}/keys": "key" },
  ...{ "/memories": "memory", "/outputs": "output", "/projects": "project" },
  ...{ "/memories/{id}/relationships": "rel", "/runs": "run", "/schedules": "sch", "/teams": "team" },
  "/process-templates": "template_slug",
  "/users": "usr",
  // Its answers lack the content.
  "/exemplars": null,
  // A member, a proposal, an offer, a code or a replay exists once; artifacts and codes have separate tests.
  "/agents/{agent_id}/replays": null,
  "/channels/{channel_id}/members": null,
  "/memories/merge-proposals": null,
  "/runs/{run_id}/handoff-offers": null,
  "/runs/{run_id}/artifacts": null,
  "/agents/{agent_id}/device-code": null,
};

const reads = operations.filter(({ method }) => method === "GET");
const byPath = (url: string) => reads.find((each) => each.url === url);
const withoutLast = (url: string) => url.replace(/\/[^/]+$/, "");

const changes = operations.filter(
  ({ method, body, access, url }) =>
    ["PATCH", "PUT"].includes(method) && body && access.by !== "operator" && (byPath(url) || LISTED.has(url)),
);
const creations = operations.filter(
  ({ method, results, url, access }) =>
    method === "POST" && 201 in results && access.by !== "operator" && byPath(url),
);

/** Keys of a resource besides its id. */
const UNIQUE = ["name", "slug", "key", "email", "event_type", "event_type_glob"];

function callerOf({ access }: Operation): Api {
  const isForAgents = access.by === "agent" || (access.by === "any" && !access.people);
  return isForAgents && access.scope !== "admin" ? mine.agent : mine.admin;
}

/** The address of a resource of the tenant that an operation's path names. */
async function addressOf({ url, path = {} }: Operation, which?: string): Promise<string> {
  let address = url;
  for (const [name, schema] of Object.entries(path)) {
    const kind = identifierKind(schema) as string;
    address = address.replace(
      `{${name}}`,
      await (which && kind === "memory" ? another(kind, which) : mine.idOf(kind)),
    );
  }
  return address;
}

/** The id of a second memory: an edge exists once. */
const others = new Map<string, Promise<string>>();
function another(kind: string, which: string): Promise<string> {
  const make = others.get(kind + which) ?? makeId(kind, mine);
  others.set(kind + which, make);
  return make;
}

/** Reads a resource: by itself, or in its list. */
async function read(op: Operation, address: string): Promise<Resource> {
  if (byPath(op.url)) return ok(await callerOf(op).get(address));
  return (await listed(op, withoutLast(address))).find(({ id, key }) => address.endsWith(`/${key ?? id}`));
}

async function listed(op: Operation, address: string): Promise<Resource[]> {
  const list = ok(await callerOf(op).get(address));
  return Array.isArray(list) ? list : (Object.values(list).find(Array.isArray) as Resource[]);
}

test.each(changes.map((op) => [op.route, op] as const))("what was read is taken by %s", async (_, op) => {
  const address = await addressOf(op);
  const before = await read(op, address);
  const write = op.method === "PATCH" ? callerOf(op).patch : callerOf(op).put;
  expect(await write(address, before)).toMatchObject({ status: 200 });
  expect(settled(await read(op, address))).toEqual(settled(before));
});

/** Leaves out what every write changes. */
function settled({ updated_at: _at, accessed_at: _read, version: _version, ...rest }: Resource): Resource {
  return rest;
}

describe("a copy is created from what was read by", () => {
  const copied = creations.filter(({ url }) => KIND_OF[url] !== null);
  test.each(copied.map((op) => [op.route, op] as const))("%s", async (_, op) => {
    const made = await callerOf(op).post(await addressOf(op, "other"), await copyOf(op));
    expect(made).toMatchObject({ status: 201 });
  });
});

describe("an explicit null of an optional field is its absence for", () => {
  const bare = creations.filter(({ url }) => KIND_OF[url] !== null);
  test.each(bare.map((op) => [op.route, op] as const))("%s", async (_, op) => {
    const required = (op.params.required ?? []) as string[];
    const copy = await copyOf(op);
    const given = Object.fromEntries(
      Object.keys(op.body ?? {}).map((name) => [name, required.includes(name) ? copy[name] : null]),
    );
    for (const name of UNIQUE) if (typeof given[name] === "string") given[name] = `null-${given[name]}`;
    const { status, body } = await callerOf(op).post(await addressOf(op, "null"), {
      ...given,
      ...CHOICES[op.url],
    });
    expect({ status, error: body.error }).toEqual({ status: 201, error: undefined });
  });
});

/** One of these fields is needed, though none is required. */
const CHOICES: Record<string, object> = {
  "/runs": { steps: [{ step_key: "a", title: null, depends_on: null, completion_mode: null }] },
  "/schedules": { cron: "0 0 2 1 *" },
  "/ingest/connectors": { queue: "of-nulls" },
};

/** A resource of the tenant as it is read, with other unique fields. */
async function copyOf(op: Operation): Promise<Resource> {
  const kind = KIND_OF[op.url];
  if (!kind) throw new Error(`add what ${op.route} creates to KIND_OF`);
  const address = await addressOf(op);
  const id = await mine.idOf(kind);
  const hasOwn = reads.some(({ url }) => url !== op.url && url.replace(/\/\{\w+\}$/, "") === op.url);
  const item = hasOwn
    ? ok(await callerOf(op).get(`${address}/${id}`))
    : (await listed(op, address)).find((each) => each.id === id || each.key === id);
  const unique = UNIQUE.filter((name) => typeof item[name] === "string");
  return { ...item, ...Object.fromEntries(unique.map((name) => [name, `copy-${item[name]}`])) };
}
