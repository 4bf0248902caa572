import { describe, expect, test } from "@jest/globals";
import { MODELS } from "../../services/models.ts";
import { ofKits } from "../support/kits.ts";
import { type Source, sources } from "../support/sources.ts";

const PRODUCT = [
  "*.ts",
  "{bin,connectors,lib,middlewares,mixins,observability,services,storage}/**/*.ts",
  "extensions/*/{*,!(test)/**/*}.ts",
];
const all = sources(...PRODUCT);
const client = sources("packages/client/{*,cli/*,generate/*,generated/*}.ts");
const driver = sources("packages/mongoose-sqlite/{*,{driver,query,tables,threads,update}/*}.ts");
const consoleSources = sources("packages/console/{*.ts,src/**/*.{ts,tsx}}");
const inFolder = (folder: string) => all.filter(({ file }) => file.startsWith(`${folder}/`));

/** `services/sense/events` of any file in it; undefined for files that no domain owns. */
const domainOf = (file: string) => /^services\/[^/]+\/[^/]+(?=\/)/.exec(file)?.[0];

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

  test("lib imports nothing of ours", () =>
    expect(offences(inFolder("lib"), (of) => of.startsWith("lib/"))).toEqual([]));

  test("storage and connectors import lib", () => {
    const own = (folder: string) =>
      offences(inFolder(folder), (of) => of.startsWith("lib/") || of.startsWith(`${folder}/`));
    expect([...own("storage"), ...own("connectors")]).toEqual([]);
  });

  test("middlewares import lib and observability", () => {
    const below = /^(lib|middlewares|observability)\//;
    expect(offences(inFolder("middlewares"), (of) => below.test(of))).toEqual([]);
  });

  test("observability imports no service", () =>
    expect(offences(inFolder("observability"), (of) => !of.startsWith("services/"))).toEqual([]));

  test("a contract imports lib and other contracts", () => {
    const contracts = all.filter(({ file }) => file.endsWith(".contract.ts"));
    expect(offences(contracts, (of) => of.startsWith("lib/") || of.endsWith(".contract.ts"))).toEqual([]);
  });

  test("a model imports lib, storage, contracts, and rules of its domain", () => {
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

  test("no domain knows of the edge", () => {
    const isEdge = (file: string) => /^services\/edge\//.test(file) && !file.endsWith(".contract.ts");
    const others = inFolder("services").filter(({ file }) => !isEdge(file) && file !== "services/index.ts");
    expect(offences(others, (of) => !isEdge(of))).toEqual([]);
  });

  test("packages import nothing of the service, except the client's generator and the console's shared code", () => {
    expect(offences(driver, (of) => of.startsWith("packages/mongoose-sqlite/"))).toEqual([]);
    const own = /^packages\/(console|client)\//;
    expect(offences(consoleSources, (of) => own.test(of) || of.endsWith(".css"))).toEqual([]);
  });

  test("the client is a separate package: only its generator reads contracts", () => {
    const reads = offences(
      client,
      (of, { file }) => of.startsWith("packages/client/") || file.startsWith("packages/client/generate/"),
    );
    expect(reads).toEqual([]);
    const generators = client.filter(({ file }) => file.startsWith("packages/client/generate/"));
    const below = /^(packages\/client|lib)\/|^services\/contracts\.ts$/;
    expect(offences(generators, (of) => below.test(of))).toEqual([]);
    const shipped = client.filter((source) => !generators.includes(source));
    expect(offences(shipped, (of) => !of.startsWith("packages/client/generate/"))).toEqual([]);
  });

  test("an integration imports itself alone, and the client as any program does", () => {
    const integrations = sources("packages/integrations/*/{src,examples}/**/*.ts");
    expect(integrations.length).toBeGreaterThan(10);
    const own = (of: string, { file }: Source) => of.startsWith(`${file.split("/", 3).join("/")}/`);
    expect(offences(integrations, own)).toEqual([]);
    const readers = integrations.filter(
      ({ file, text }) => file.includes("/src/") && text.includes("process.env"),
    );
    expect(readers.map(({ file }) => file)).toEqual([]);
  });

  test("the core imports no extension", () => {
    const core = all.filter(({ file }) => !file.startsWith("extensions/"));
    const mentions = core.filter(({ text }) => /"[./\w-]*extensions\/\w/.test(text)).map(({ file }) => file);
    expect([...offences(core, (of) => !of.startsWith("extensions/")), ...mentions]).toEqual([]);
  });

  test("an extension imports itself, and of services what others may", () => {
    const extensions = inFolder("extensions");
    expect(extensions.length).toBeGreaterThan(10);
    const below =
      /^(config\.ts$|(lib|connectors|mixins|storage)\/|observability\/(log|metrics|tracing)\.ts$)/;
    const own = (of: string, { file }: Source) => of.startsWith(`${file.split("/", 2).join("/")}/`);
    const isPublic = (of: string) => below.test(of) || of.endsWith(".contract.ts") || PUBLIC.includes(of);
    expect(offences(extensions, (of, from, typeOnly) => typeOnly || own(of, from) || isPublic(of))).toEqual(
      [],
    );
  });

  test("there is no circle", () =>
    expect(circles([...all, ...client, ...driver, ...consoleSources])).toEqual([]));

  test("domains form no circle", () => {
    const domains = Map.groupBy(inFolder("services"), ({ file }) => domainOf(file));
    const graph = [...domains].map(([file, sources]) => {
      const others = new Set(sources.flatMap(({ imports }) => imports.map(({ of }) => domainOf(of))));
      others.delete(file);
      return { file, text: "", imports: [...others].filter(Boolean).map((of) => ({ of })) } as Source;
    });
    expect(circles(graph.filter(({ file }) => file !== undefined))).toEqual([]);
  });

  test("groups of services import in one direction", () => {
    const rank = (file: string) => GROUPS.indexOf(groupOf(file));
    const against = inFolder("services").flatMap(({ file, imports }) =>
      imports
        .filter(({ of }) => rank(file) >= 0 && rank(of) >= 0 && rank(of) < rank(file))
        .map(({ of }) => `${file} → ${of}`),
    );
    expect(against).toEqual([]);
  });
});

test("only the output writes bodies, so that the memory of answers counts all", () => {
  const writes = /\b(res|response)\.write\(|\bpipeline\(|\.pipe(To)?\(/;
  const edge = [...inFolder("services/edge"), ...inFolder("extensions")];
  const writers = edge.filter(({ text }) => writes.test(text));
  expect(writers.map(({ file }) => file)).toEqual(["services/edge/gateway/answer/output.ts"]);
  // With a body: the output's own, short answers, and the page of a console that is not built.
  const enders = edge.filter(({ text }) => /\b(res|response)\.end\([^)]/.test(text));
  expect(enders.map(({ file }) => file)).toEqual([
    "services/edge/gateway/answer/respond.ts",
    "services/edge/gateway/pages/console.ts",
  ]);
});

test("only config.ts reads the environment", () => {
  const readers = all
    .filter(({ text }) => /process\.env\b|from "node:process"/.test(text))
    .map(({ file }) => file);
  expect(readers).toEqual(["config.ts"]);
  const clients = client.filter(({ text }) => /process\.env\b|from "node:process"/.test(text));
  expect(clients.map(({ file }) => file)).toEqual(["packages/client/cli/environment.ts"]);
});

test("what a browser loads of the client needs no Node", () => {
  const shipped = client.filter(({ file }) => !/^packages\/client\/((generate|cli)\/|cli\.ts$)/.test(file));
  const offending = shipped.filter(({ text }) => /from "node:|\bprocess\.|\bBuffer\b/.test(text));
  expect(offending.map(({ file }) => file)).toEqual([]);
  expect(shipped.length).toBeGreaterThan(10);
});

test("the client depends on nothing, but for its --query", () => {
  const shipped = client.filter(({ file }) => !file.startsWith("packages/client/generate/"));
  const foreign = shipped.flatMap(({ file, text }) =>
    [...text.matchAll(/from "([^."][^"]*)"/g)]
      .filter(([, name]) => !(name as string).startsWith("node:"))
      .map(([, name]) => `${file} → ${name}`),
  );
  expect(foreign).toEqual([]);
  const loaded = client.filter(({ text }) => /\bimport\("[^."]/.test(text)).map(({ file }) => file);
  expect(loaded).toEqual(["packages/client/cli/output.ts"]);
});

test("a file has 400 lines at most", () => {
  const written = client.filter(({ file }) => !file.startsWith("packages/client/generated/"));
  const long = [...all, ...driver, ...consoleSources, ...written]
    .filter(({ text }) => text.split("\n").length > 400)
    .map(({ file }) => file);
  expect(long).toEqual([]);
});

/**
 * Finders across tenants, with reasons. An addition must never return another tenant's data to a caller; work that rows ask
 * for is found by `Due` and `Queue`, which keep tenants apart.
 */
const SYSTEM_FINDERS: Record<string, string> = {
  ...(await ofKits("finders")),
  "mixins/due.ts": "rows that are due, and the tenants of rows",
  "mixins/queue.ts": "rows that are to be worked on",
  "services/identity/agents/agents.service.ts": "agents of verified tokens",
  "services/identity/agents/agents.ts": "agents to push to",
  "services/identity/auth/callers.ts": "tokens that were ended early, by their id",
  "services/sense/connectors/runner.ts": "connectors to run",
  "services/sense/deliveries/ordering.ts": "groups to look at, each by itself",
  "services/sense/deliveries/notify.ts": "which of many agents have ready deliveries",
  "services/sense/deliveries/sweep.ts": "how late the sweep is; what is due too far ahead",
  "services/identity/devices/devices.service.ts": "a device code and a claim by their digests",
  "services/sense/events/fan-out-sweep.ts": "the next tenant with events to fan out",
  "services/identity/keys/keys.service.ts": "a key by its hash; keys of verified tokens",
  "services/remember/memories/erasures.ts": "leases of a node that is gone",
  "services/remember/search/feed.ts": "rows in order of change, for search to follow",
  "services/remember/search/catch-up.ts": "notes of what was erased while a node was away",
  "services/identity/rotation/secret-keys.ts": "secrets that a former key has encrypted",
  "services/identity/tenants/first-start.ts": "whether there is any tenant",
  "services/identity/tenants/portable-rows.ts": "whether imported rows name those of other tenants",
  "services/identity/tenants/founding.ts": "whether a slug is taken",
  "services/identity/tenants/tenants.service.ts": "a tenant by slug; tenants of verified tokens",
  "services/identity/tenants/tenants.ts": "the operator's list",
  "services/platform/usage/traffic.ts":
    "counts of all tenants, written by each node and read by the operator",
  "services/platform/usage/usage.ts": "which tenants are full",
  "services/identity/users/users.service.ts": "a person by e-mail at login; people of verified tokens",
};

test("only these look across tenants", () => {
  const users = all.filter(
    ({ file, text }) =>
      /\.(system|findAnyWithin)\b(?!")/.test(text) && /^(extensions|mixins|services)\//.test(file),
  );
  expect(users.map(({ file }) => file)).toEqual(Object.keys(SYSTEM_FINDERS).sort());
});

/** Loops over tenants that wait within, with what keeps one tenant from the others. */
const OWN_TURNS: Record<string, string> = {
  "services/remember/search/catch-up.ts":
    "an entry that fails is left out, and tenants are filled one after the other",
  "services/remember/search/embedding-loop.ts": "rounds with a step of each tenant",
  "services/remember/search/search.service.ts": "a gauge",
  "services/sense/deliveries/backlog.ts": "a gauge",
  "services/sense/deliveries/health/progress.ts": "reads for one write",
  "services/sense/events/fan-out.ts": "leases that are given back at the end",
  "services/sense/interests/routing.ts": "a table that cannot be read is read by the next event",
  "services/work/runs/evidence.ts": "one tenant's",
};

test("other loops over several tenants take turns by `inTurns`, `Due` or `Queue`", () => {
  const waiting = all.flatMap(({ file, text }) => {
    const loops = [...text.matchAll(/^( *)for [^\n]*\(const [^\n]*\n((?:\1 [^\n]*\n|\n)*)/gm)];
    const overTenants = /\(const [^\n]*tenant[^\n]* of |groupBy\([^\n]*tenant_id| of [^\n]*[tT]enants?\b/;
    const isOwn = ([loop]: string[]) => overTenants.test(loop as string) && /\bawait\b/.test(loop as string);
    return loops.some(isOwn) ? [file] : [];
  });
  const own = waiting.filter((file) => /^(extensions|mixins|services)\//.test(file));
  expect([...new Set(own)].sort()).toEqual(Object.keys(OWN_TURNS).sort());
});

/** Imports of extensions from services besides contracts and types (docs/extensions.md). */
const PUBLIC = [
  ...["services/runtime.ts", "services/extensions.ts", "services/erasers.ts", "services/outgoing.ts"],
  // Tenants and their addresses, and what ends credentials.
  ...["find-tenants", "founding", "origin"].map((name) => `services/identity/tenants/${name}.ts`),
  "services/identity/keys/versions.ts",
  // Streams, and writes that are refused.
  ...["streams/sse", "guards"].map((name) => `services/edge/gateway/${name}.ts`),
  // With the hooks.
  ...["approvals", "asked", "assignees"].map((name) => `services/work/approvals/${name}.ts`),
  ...["services/remember/documents/converter.ts", "services/work/outputs/render/read.ts"],
  ...["page", "table"].map((name) => `services/remember/documents/parsers/${name}.ts`),
];

/** Each may import from itself and from those after it. */
const GROUPS = ["edge", "work", "remember", "sense", "identity", "platform"];
const groupOf = (file: string) => /^services\/([a-z]+)\//.exec(file)?.[1] ?? "";

/** Files that import each other, if only types, each circle once. */
function circles(files: Source[]): string[] {
  const graph = new Map(files.map(({ file, imports }) => [file, imports.map(({ of }) => of)]));
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

test("every collection is in the list of models", () => {
  const declared = all.flatMap(({ text }) => [...text.matchAll(/: Model<\w+> =/g)]);
  expect(MODELS.map(({ name }) => name)).toHaveLength(declared.length);
});

test("every hash in a model references a blob or is declared to reference none", () => {
  const NO_BLOBS = {
    "services/identity/keys/keys.model.ts": "of a secret",
    "services/remember/search/search.model.ts": "of an embedded text",
    "services/work/runs/runs.model.ts": "of a snapshot, which the run names until its artifact references it",
  };
  const others = all.flatMap(({ file, text }) => {
    const fields = [...text.matchAll(/^ {2}(\w*hash|\w*blob): /gm)].map(([, field]) => field);
    const referring = [...text.matchAll(/blobs: \["(\w+)"\]/g)].map(([, field]) => field);
    return file.endsWith(".model.ts") && fields.some((each) => !referring.includes(each)) ? [file] : [];
  });
  expect(others).toEqual(Object.keys(NO_BLOBS));
});
