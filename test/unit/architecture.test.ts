import { describe, expect, test } from "@jest/globals";
import { type Source, sources } from "../support/sources.ts";

const PRODUCT = ["*.ts", "{admin,connectors,lib,mixins,observability,services,storage}/**/*.ts"];
const all = sources(...PRODUCT);
const client = sources("client/{*,cli/*,generate/*,generated/*}.ts");
const inFolder = (folder: string) => all.filter(({ file }) => file.startsWith(`${folder}/`));

/** `services/events` of any file in it; undefined for files that no domain owns. */
const domainOf = (file: string) => /^services\/[^/]+(?=\/)/.exec(file)?.[0];

/** Every import that `allowed` does not, as `file → imported`. */
function offences(
  files: Source[],
  allowed: (imported: string, from: Source, typeOnly: boolean) => boolean,
): string[] {
  return files.flatMap((source) =>
    source.imports
      .filter(({ of, typeOnly }) => !allowed(of, source, typeOnly))
      .map(({ of }) => `${source.file} → ${of}`),
  );
}

describe("imports go one way", () => {
  test("the sources are found", () => {
    expect(all.length).toBeGreaterThan(50);
    expect(all.flatMap(({ imports }) => imports).length).toBeGreaterThan(100);
  });

  test("lib imports nothing of ours", () => {
    expect(offences(inFolder("lib"), (of) => of.startsWith("lib/"))).toEqual([]);
  });

  test("storage and connectors import lib", () => {
    const own = (folder: string) =>
      offences(inFolder(folder), (of) => of.startsWith("lib/") || of.startsWith(`${folder}/`));
    expect([...own("storage"), ...own("connectors")]).toEqual([]);
  });

  test("a contract imports lib and other contracts", () => {
    const contracts = all.filter(({ file }) => file.endsWith(".contract.ts"));
    expect(offences(contracts, (of) => of.startsWith("lib/") || of.endsWith(".contract.ts"))).toEqual([]);
  });

  test("a model imports lib, storage, contracts, and rules of its own domain", () => {
    const models = all.filter(({ file }) => file.endsWith(".model.ts"));
    const below = (of: string) => /^(lib|storage)\//.test(of) || of.endsWith(".contract.ts");
    const own = (of: string, { file }: Source) =>
      domainOf(of) === domainOf(file) && !of.endsWith(".service.ts");
    expect(
      offences(models, (of, from) => below(of) || own(of, from) || of === "services/runtime.ts"),
    ).toEqual([]);
  });

  test("a service uses its own domain's models", () => {
    const foreign = (of: string, { file }: Source) =>
      of.endsWith(".model.ts") && domainOf(of) !== domainOf(file);
    expect(offences(all, (of, from, typeOnly) => typeOnly || !foreign(of, from))).toEqual([]);
  });

  test("no domain knows of the gateway", () => {
    const domains = inFolder("services").filter(({ file }) => domainOf(file) !== "services/gateway");
    const others = domains.filter(({ file }) => file !== "services/index.ts");
    expect(offences(others, (of) => domainOf(of) !== "services/gateway")).toEqual([]);
  });

  test("the client is a package of its own: only what generates it reads contracts", () => {
    const reads = offences(
      client,
      (of, { file }) => of.startsWith("client/") || file.startsWith("client/generate/"),
    );
    expect(reads).toEqual([]);
    const generators = client.filter(({ file }) => file.startsWith("client/generate/"));
    const below = /^(client|lib)\/|^services\/contracts\.ts$/;
    expect(offences(generators, (of) => below.test(of))).toEqual([]);
    const shipped = client.filter((source) => !generators.includes(source));
    expect(offences(shipped, (of) => !of.startsWith("client/generate/"))).toEqual([]);
  });

  test("there is no circle", () => {
    expect([...circles(all), ...circles(client)]).toEqual([]);
  });
});

test("only config.ts reads the environment", () => {
  const readers = all
    .filter(({ text }) => /process\.env\b|from "node:process"/.test(text))
    .map(({ file }) => file);
  expect(readers).toEqual(["config.ts"]);
  const clients = client.filter(({ text }) => /process\.env\b|from "node:process"/.test(text));
  expect(clients.map(({ file }) => file)).toEqual(["client/cli/settings.ts"]);
});

test("what a browser loads of the client needs no Node", () => {
  const shipped = client.filter(({ file }) => !/^client\/(generate|cli)\/|^client\/cli\.ts$/.test(file));
  const offending = shipped.filter(({ text }) => /from "node:|\bprocess\.|\bBuffer\b/.test(text));
  expect(offending.map(({ file }) => file)).toEqual([]);
  expect(shipped.length).toBeGreaterThan(10);
});

test("the client depends on nothing", () => {
  const foreign = client.flatMap(({ file, text }) =>
    [...text.matchAll(/from "([^."][^"]*)"/g)]
      .filter(([, name]) => !(name as string).startsWith("node:"))
      .map(([, name]) => `${file} → ${name}`),
  );
  expect(foreign).toEqual([]);
});

test("a file has 400 lines at most", () => {
  const written = client.filter(({ file }) => !file.startsWith("client/generated/"));
  const long = [...all, ...written]
    .filter(({ text }) => text.split("\n").length > 400)
    .map(({ file }) => file);
  expect(long).toEqual([]);
});

/** Who may look across tenants, and why. Whoever is added here must not give a caller what is another tenant's. */
const SYSTEM_FINDERS: Record<string, string> = {
  "mixins/queue.ts": "rows that are to be worked on",
  "mixins/search-feed.ts": "rows in order of change, for search to follow",
  "services/agents/agents.service.ts": "agents of verified tokens; agents to push to",
  "services/audit/audit.service.ts": "sweep of old entries",
  "services/auth/auth.service.ts": "sweep of ended tokens",
  "services/auth/callers.ts": "tokens that were ended early, by their id",
  "services/bundles/retention.ts": "sweep of bundles whose time is over",
  "services/connectors/runner.ts": "connectors to run",
  "services/deliveries/announce.ts": "outbox of dead deliveries",
  "services/deliveries/replay.ts": "outbox of replays",
  "services/deliveries/sweep.ts": "sweep of what is due",
  "services/devices/codes.ts": "a device code and a claim by their digests",
  "services/devices/devices.service.ts": "sweep of old codes and of claim budgets",
  "services/devices/gone-sessions.ts": "sweep of devices whose key is gone",
  "services/devices/sessions.service.ts": "sweep of devices that never fetched their key",
  "services/events/fan-out-sweep.ts": "sweep of events that are not fanned out",
  "services/events/retention.ts": "sweep of old events",
  "services/handoffs/reaper.ts": "sweep of handoffs whose term is over",
  "services/idempotency/sweep.ts": "sweep of old keys",
  "services/keys/keys.service.ts": "a key by its hash; keys of verified tokens",
  "services/ingest/first-ids.ts": "sweep of bodies whose day is over",
  "services/memories/changes.ts": "outbox of events",
  "services/memories/cites.ts": "citations that are to be published, or no longer count",
  "services/memories/erasures.ts": "erasures that were cut off",
  "services/memories/findings-outbox.ts": "memories that became institutional",
  "services/memories/purge.ts": "sweep of what was forgotten long ago; of writes that were cut off",
  "services/runs/relay.ts": "outbox of what happened in runs",
  "services/runs/runs.service.ts": "sweep of steps that become stale",
  "services/search/catch-up.ts": "notes of what was erased while a node was away",
  "services/merges/settle.ts": "outbox of memories to merge",
  "services/tenants/erasure.ts": "sweep of tenants to erase",
  "services/tenants/first-start.ts": "whether there is any tenant",
  "services/tenants/founding.ts": "whether a slug is taken",
  "services/tenants/tenants.service.ts": "the operator's list; a tenant by slug; tenants of verified tokens",
  "services/users/users.service.ts": "a person by e-mail at login; people of verified tokens",
};

test("only these look across tenants", () => {
  const users = all.filter(({ file, text }) => /\.system\b/.test(text) && /^(mixins|services)\//.test(file));
  expect(users.map(({ file }) => file)).toEqual(Object.keys(SYSTEM_FINDERS).sort());
});

/** Files that import each other at run time, each circle once. */
function circles(files: Source[]): string[] {
  const graph = new Map(
    files.map(({ file, imports }) => [file, imports.filter((each) => !each.typeOnly).map(({ of }) => of)]),
  );
  const found = new Set<string>();
  const done = new Set<string>();
  const visit = (file: string, path: string[]) => {
    const at = path.indexOf(file);
    if (at >= 0) found.add(path.slice(at).sort().join(" ↔ "));
    if (at >= 0 || done.has(file)) return;
    for (const next of graph.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return [...found];
}

test("every domain whose rows name blobs is asked before one is deleted", () => {
  const answering = all
    .filter(({ text }) => /^\s+blob_references: /m.test(text))
    .map(({ file }) => file.split("/")[1]);
  const { text = "" } = all.find(({ file }) => file === "services/blobs/blobs.service.ts") ?? {};
  const asked: string[] = JSON.parse(/OWNERS = (\[.*?\])/.exec(text)?.[1] ?? "[]");
  expect(asked).toEqual(answering.sort());
  // What comes by reference is kept by the operation's domain.
  const keeping = all.filter(
    ({ file, text }) => /^services\/(?!gateway)/.test(file) && /\bbyReference\(|blobs\.put\(/.test(text),
  );
  for (const { file } of keeping) expect(asked).toContain(file.split("/")[1]);
});
