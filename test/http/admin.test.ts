import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { refusal, usage } from "../../bin/extension-command.ts";
import { run, runProcess } from "../support/admin.ts";
import { newCli } from "../support/cli.ts";
import { agentToken, api } from "../support/http.ts";
import { ownFolder } from "../support/own-folder.ts";
import { startServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { OPERATOR_TOKEN, ok, signIn } from "../support/tenancy.ts";
import { useServer } from "../support/use.ts";

const PRIVATE = { CONNECTOR_ALLOW_PRIVATE: "true" };
const scratch = await ownFolder();
const server = await useServer({ env: { OPERATOR_TOKEN, ...PRIVATE } });

const slugsIn = (tenants: { slug: string }[]) => tenants.map(({ slug }) => slug);

/** The same commands through a running server and on a store without a server. */
describe.each(["while the server runs", "while it does not"])("the command line %s", (when) => {
  const running = when === "while the server runs";
  // Each command starts a process.
  const isWhole = running || process.env.SENSORIUM_TEST_ALL !== undefined;
  let dataDir: string;
  let founded: {
    tenant: { id: string };
    admin: { email: string; password: string };
    agent: { id: string; api_key: string };
  };
  const admin = (command: string) =>
    (running ? run : runProcess)(dataDir, command, { ...PRIVATE, ...(running && { OPERATOR_TOKEN }) });
  const done = async (command: string) => {
    const { code, output, result } = await admin(command);
    expect({ code, output }).toEqual({ code: 0, output: expect.any(String) });
    return result;
  };

  beforeAll(async () => {
    dataDir = running ? server.dataDir : await mkdtemp(join(scratch, "data-"));
    const found = "tenants create --slug default --name Default --admin-email root@example.com";
    if (!running) founded = await done(found);
  });

  test("erases a tenant that is named twice, and no other", async () => {
    const { tenant } = await done("tenants create --slug gone --name Gone --admin-email gone@example.com");
    // The command itself compares the names: it does not matter where the store is.
    for (const confirm of running ? ["", " --confirm acme"] : []) {
      const { code, output } = await admin(`tenants erase gone${confirm}`);
      expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining("--confirm") });
    }
    const receipt = await done("tenants erase gone --confirm gone");
    expect(receipt).toMatchObject({
      ...{ tenant_id: tenant.id, erased: { agents: 1, api_keys: 1, users: 1 }, receipt: expect.any(String) },
    });
    if (running) expect(slugsIn(await done("tenants list"))).toEqual(["default"]);
  });

  if (!running)
    test("makes changes that the next server sees, with the same passwords and keys", async () => {
      const { tenant, ...first } = founded;
      const of = { base_url: "", ingest_url: "", tenant_id: tenant.id, tenant_slug: "default", ...first };
      await writeFile(join(dataDir, "credentials.json"), JSON.stringify(of));
      await using next = await startServer({ dataDir, env: { OPERATOR_TOKEN } });
      expect(await signIn(next, founded.admin, "default")).toBeTruthy();
      const token = await agentToken(next, founded.agent.api_key);
      expect(ok(await api(next, token).get("/auth/me")).agent.id).toBe(founded.agent.id);
      const { tenants } = ok(await api(next, OPERATOR_TOKEN).get("/tenants"));
      expect(slugsIn(tenants)).toEqual(["default"]);
    });

  if (!isWhole) return;

  test("limits a tenant, lists what tenants use, and sets modes", async () => {
    const limited = await done("tenants limit default --requests-per-minute 100000");
    expect(limited).toMatchObject({ slug: "default", requests_per_minute: 100_000 });
    const used = await done("tenants usage --hours 2 --sort stored_bytes");
    expect(used).toContainEqual(expect.objectContaining({ slug: "default", cpu_ms: expect.any(Number) }));
    expect(await done("log level warn")).toMatchObject({ log_level: "warn", maintenance: null });
    if (!running) return;
    expect(await done("maintenance on --reason moving")).toMatchObject({ maintenance: { reason: "moving" } });
    expect(await done("maintenance off")).toMatchObject({ maintenance: null, nodes: [{ applied: true }] });
    expect((await done("nodes")).nodes).toHaveLength(1);
    // Whether something is wrong depends on this machine.
    expect((await admin("doctor")).output).toMatch(/"ok": true|wrong: /);
  });

  test("makes, lists, suspends and activates tenants", async () => {
    const made = await done("tenants create --slug acme --name Acme --admin-email ada@example.com");
    const expected = { tenant: { slug: "acme" }, agent: { api_key: expect.stringMatching(/^ak_live_/) } };
    expect(made).toMatchObject(expected);
    expect(await done("tenants quota acme --storage-mb 50")).toMatchObject({ storage_quota_mb: 50 });
    expect(await done("tenants quota acme --storage-mb default")).toMatchObject({ storage_quota_mb: null });
    expect((await done("tenants suspend acme")).status).toBe("suspended");
    const listed = await done("tenants list");
    expect(listed.find((tenant: { slug: string }) => tenant.slug === "acme").status).toBe("suspended");
    expect((await done("tenants activate acme")).status).toBe("active");
  });

  test("makes, lists and disables people, and gives them a new password", async () => {
    const made = await done("users create --user-email eve@example.com --name Eve --role admin");
    expect(made).toMatchObject({ email: "eve@example.com", display_name: "Eve", role: "admin" });
    expect((await done("users disable EVE@example.com")).status).toBe("disabled");
    expect((await done("users enable eve@example.com")).status).toBe("active");
    const { password } = await done("users reset-password eve@example.com");
    expect(password).not.toBe(made.password);
    const listed = await done("users list");
    expect(listed.map((user: { email: string }) => user.email)).toContain("eve@example.com");
    expect(JSON.stringify(listed)).not.toContain(password);
  });

  test("makes and lists agents and keys, and revokes keys", async () => {
    const agent = await done("agents create --name Watcher");
    expect(agent).toMatchObject({ delivery_mode: "poll", owner_user_id: null });
    expect(await done("agents list")).toHaveLength(2);
    const key = await done(`keys create ${agent.id} --scopes send,receive`);
    expect(key.scopes).toEqual(["send", "receive"]);
    expect(await done(`keys list ${agent.id}`)).toMatchObject([{ id: key.id, prefix: key.prefix }]);
    await done(`keys revoke ${agent.id} ${key.id}`);
    expect(await done(`keys list ${agent.id}`)).toEqual([]);
  });

  test("attaches brokers, changes, pauses and resumes them, and detaches them", async () => {
    const file = join(scratch, "connector.json");
    const described = async (fields: object) => writeFile(file, JSON.stringify(fields));
    const mapping = { entity: "order", action: "/what" };
    const url = "amqp://shop:s3cret@127.0.0.1:1";
    const broker = { kind: "amqp091", url, queue: "orders", source: "shop" };
    await described({ name: "Orders", ...broker, mapping, paused: true });
    const made = await done(`connectors create --file ${file}`);
    expect(made).toMatchObject({ url: "amqp://***@127.0.0.1:1", mapping, state: "paused" });
    await described({ prefetch: 7 });
    expect((await done(`connectors update ${made.id} --file ${file}`)).prefetch).toBe(7);
    expect((await done(`connectors resume ${made.id}`)).paused).toBe(false);
    expect((await done(`connectors pause ${made.id}`)).state).toBe("paused");
    const listed = await done("connectors list");
    expect(listed).toMatchObject([{ id: made.id, prefetch: 7, counts: { received: 0 } }]);
    expect(JSON.stringify([made, listed])).not.toContain("s3cret");
    expect(await done(`connectors delete ${made.id}`)).toEqual({ deleted: made.id });
    expect(await done("connectors list")).toEqual([]);
  });

  test("never quotes a file that it cannot read a connector from", async () => {
    const file = join(scratch, "broken.json");
    await writeFile(file, '{"url": "amqp://shop:s3cret@');
    const answer = await admin(`connectors create --file ${file}`);
    expect(answer).toMatchObject({ code: 1, output: `--file: ${file} does not contain valid JSON.\n` });
    expect((await admin("connectors create --file /none.json")).output).toMatch(/^--file: ENOENT/);
  });

  test("says in a line what is wrong", async () => {
    const output = "There is no agent ag_none that you may read. Check the id. (not_found)\n";
    expect(await admin("keys create ag_none --scopes send")).toMatchObject({ code: 1, output });
  });
});

describe("while the server runs", () => {
  test("a key that it revokes is refused", async () => {
    const { id } = server.credentials.agent;
    const { result: key } = await run(server.dataDir, `keys create ${id} --scopes send`);
    const token = await agentToken(server, key.key);
    expect((await run(server.dataDir, `keys revoke ${id} ${key.id}`)).code).toBe(0);
    await settle(async () => (await api(server, token).get("/auth/me")).status === 401);
  });

  test.each([
    ["tenants create --slug x", /^--name is required\.$/],
    ["tenants quota acme --storage-mb much", /^--storage-mb is much: expected a whole number/],
    ["tenants suspend nowhere", /^There is no tenant "nowhere"\. /],
    [
      "tenants create --slug default --name D --admin-email a@b.example",
      /"default" is taken\. Choose another\. \(conflict\)$/,
    ],
    ["users disable nobody@example.com", /^There is no user with the e-mail nobody@example\.com\. /],
    ["users create --user-email nobody", /^email: .*\(validation_failed\)$/],
    ["keys create", /^AGENT_ID is required\.$/],
  ])("refuses in one line: %s", async (command, line) => {
    const { code, output } = await run(server.dataDir, command, { OPERATOR_TOKEN });
    expect(code).toBe(1);
    expect(output.trimEnd().split("\n").at(-1)).toMatch(line);
    expect(output).not.toMatch(/^\s+at /m);
  });

  test.each<Record<string, string>>([{}, { OPERATOR_TOKEN: "another".repeat(5) }])(
    "tenants need the server's OPERATOR_TOKEN: %j",
    async (env) => {
      const { code, output } = await run(server.dataDir, "tenants list", env);
      expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining("OPERATOR_TOKEN") });
    },
  );

  test("without credentials.json it takes the server's URL and the admin's login as options", async () => {
    const kept = join(server.dataDir, "credentials.json");
    const away = join(scratch, "credentials.json");
    const file = join(scratch, "first-password");
    await writeFile(file, `${server.credentials.admin.password}\n`);
    await rename(kept, away);
    try {
      const busy =
        /is in use by another process \(pid \d+\)\. If the server is running, give its address with --url\.$/m;
      expect((await run(server.dataDir, "users list")).output).toMatch(busy);
      const named = `users list --url ${server.root}`;
      const nobody = "Name an admin of the tenant default with --email and --password-file.\n";
      expect((await run(server.dataDir, named)).output).toBe(nobody);
      const { email } = server.credentials.admin;
      const { result } = await run(server.dataDir, `${named} --email ${email} --password-file ${file}`);
      expect(result).toContainEqual(expect.objectContaining({ email }));
    } finally {
      await rename(away, kept);
    }
    const none =
      "No server responds at http://127.0.0.1:9/v1. Check --url, and that the server is running.\n";
    expect((await run(server.dataDir, "users list --url http://127.0.0.1:9")).output).toBe(none);
  });

  test("another tenant's people need one of its admins", async () => {
    const body = { slug: "globex", name: "G", admin_email: "g@globex.example" };
    const made = ok(await api(server, OPERATOR_TOKEN).post("/tenants", body));
    const refused = await run(server.dataDir, "users list --tenant globex");
    expect(refused).toMatchObject({ code: 1, output: expect.stringContaining("--password-file") });
    const file = join(scratch, "password");
    await writeFile(file, `${made.admin.password}\n`);
    const command = `users list --tenant globex --email g@globex.example --password-file ${file}`;
    expect((await run(server.dataDir, command)).result).toMatchObject([{ email: "g@globex.example" }]);
  });
});

test.each([
  ["frobnicate", /^"frobnicate" is not a command\. Run admin --help for a list\.$/],
  ["tenant list", /^"tenant list" is not a command\. Did you mean tenants list\?/],
  ["tenents", /^"tenents" is not a command\. Did you mean tenants\?/],
  ["tenants lst", /^tenants lst: expected create, list, .*\. Did you mean list\?$/],
  ["tenants list --tennant x", /^Unknown option '--tennant'\. Did you mean --tenant\?$/],
  ["users list everybody", /^Unexpected argument "everybody" for users list\.$/],
  ["tenants erase one two --confirm two", /^Unexpected argument "two" for tenants erase\.$/],
  ["agents list --role admin", /^agents list has no option --role\. Allowed: --/],
  ["users list --email a@b.example --password-file /none", /^--password-file: ENOENT/],
  ["users list --color", /^Unknown option '--color'/],
])("refuses unknown commands: %s", async (command, line) => {
  const { code, output } = await run(scratch, command);
  expect(code).toBe(1);
  expect(output.trimEnd().split("\n").at(-1)).toMatch(line);
});

test.each([
  ["bakcup", '"bakcup" is not a command. Did you mean backup?\n'],
  ["embedder", ""],
])("sensorium-server's help begins, after %s, with: %j", (command, said) => {
  const known = `${readFileSync("bin/server.js", "utf8")}${usage.join("")}`;
  expect(refusal(command, known)).toBe(said);
});

test("sensorium-server refuses what is no command", () => {
  const { status, stderr } = spawnSync(process.execPath, ["bin/server.js", "embeder"]);
  const output = '"embeder" is not a command. Did you mean embedder?\nUsage:';
  expect([status, stderr.toString().slice(0, output.length)]).toEqual([2, output]);
});

test.each(["", "help", "--help", "agents list -h"])("prints its help: %s", async (command) => {
  const { code, output } = await run(scratch, command);
  expect(code).toBe(0);
  const some = [
    "create --slug SLUG",
    "users reset-password",
    "agents list",
    "keys revoke",
    "connectors create",
  ];
  for (const each of some) expect(output).toContain(each);
});

test("`sensorium admin` runs in an installation of the server", async () => {
  await using cli = newCli({ DATA_DIR: server.dataDir });
  const admin = (...words: string[]) => cli.spawn(["admin", ...words]).ended;
  const { code, out } = await admin("agents", "list");
  const expected = [expect.objectContaining({ id: server.credentials.agent.id })];
  expect({ code, agents: JSON.parse(out) }).toEqual({ code: 0, agents: expect.arrayContaining(expected) });
  expect(await admin("nonsense")).toMatchObject({ code: 1 });
  expect(await cli.done("__complete", "admin", "tenants", "cr")).toBe("create");
});
