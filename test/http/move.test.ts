import { randomBytes } from "node:crypto";
import { readFile, truncate, writeFile } from "node:fs/promises";
import { describe, expect, test } from "@jest/globals";
import { SecretBox } from "../../lib/crypto/secrets.ts";
import { ENV, makeMover, moveSuite, worldOn } from "../suites/move.ts";
import { api } from "../support/http.ts";
import { startShared } from "../support/shared.ts";
import { makeWorld, OPERATOR_TOKEN, ok, refusal } from "../support/tenancy.ts";
import { useServer } from "../support/use.ts";

const server = await useServer({ env: ENV });
moveSuite("another embedded store", server);

const mover = await makeMover();
const source = await startShared();
const exported = async (name: string, file: string, how = mover.secret) => {
  const made = await makeWorld(source, name);
  for (const kind of ["whk", "con", "output"]) await made.idOf(kind);
  await mover.doneAt(source, `tenants export ${made.slug} ${mover.file(file)} ${how}`);
  return made;
};
const world = await exported("mover", "whole.tar");
const bare = await exported("bare", "bare.tar", "--without-secrets");
const whole = `tenants export ${bare.slug} ${mover.file("bare-whole.tar")} ${mover.secret}`;
await mover.doneAt(source, whole);
await source.stop();
const bytes = await readFile(mover.file("whole.tar"));
const operator = api(server, OPERATOR_TOKEN);

describe("an import", () => {
  const importing = (name: string, more = "") =>
    mover.admin(server.dataDir, `tenants import ${mover.file(name)} ${mover.secret}${more}`);
  const slugs = async () =>
    ok(await operator.get("/tenants?limit=200")).tenants.map((each: { slug: string }) => each.slug);

  test("refuses a file that was cut off, altered or is another, and a wrong passphrase, before it writes", async () => {
    const before = await slugs();
    const cut = Buffer.from(bytes);
    const at = cut.indexOf("mover");
    const altered = Buffer.concat([cut.subarray(0, at), Buffer.from("MOVER"), cut.subarray(at + 5)]);
    await writeFile(mover.file("cut.tar"), bytes);
    await truncate(mover.file("cut.tar"), bytes.length - 2048);
    await writeFile(mover.file("altered.tar"), altered);
    await writeFile(mover.file("other.tar"), "no tar at all".repeat(100));
    await writeFile(mover.file("other-passphrase"), "another passphrase");
    const refusals = [
      ["cut.tar", "", /whole export|cut off/],
      ["altered.tar", "", /altered/],
      ["other.tar", "", /whole export/],
      ["absent.tar", "", /cannot be read/],
    ] as const;
    for (const [name, more, reason] of refusals) {
      const { code, output } = await importing(name, more);
      expect({ name, code, output }).toEqual({ name, code: 1, output: expect.stringMatching(reason) });
    }
    const wrong = `tenants import ${mover.file("whole.tar")} --passphrase-file ${mover.file("other-passphrase")}`;
    expect(await mover.admin(server.dataDir, wrong)).toMatchObject({
      code: 1,
      output: expect.stringContaining("passphrase"),
    });
    expect(await slugs()).toEqual(before);
  });

  test("stays closed until it is complete, continues only with its own file, and says when a slug is taken", async () => {
    const { tenant } = JSON.parse(/\{[^\0]*?\n\}/.exec(bytes.toString("latin1"))?.[0] ?? "");
    const { tenant_id } = world;
    const begun = { tenant, export_id: "another export" };
    expect(ok(await operator.post("/tenants/import", begun))).toMatchObject({ status: "importing" });
    const row = { _id: "ag_of_another", tenant_id: "tn_another", name: "n" };
    const many = `${JSON.stringify({ ...row, tenant_id })}\n`.repeat(2001);
    for (const rows of [`${JSON.stringify(row)}\n`, "no rows", "null", many]) {
      const page = { collection: "agents", rows };
      expect(await operator.post(`/tenants/${tenant_id}/import/rows`, page)).toMatchObject(
        refusal(400, "validation_error", { field: "rows" }),
      );
    }
    for (const collection of ["tenants", "signing_keys", "nonsense"])
      expect(
        await operator.post(`/tenants/${tenant_id}/import/rows`, { collection, rows: "" }),
      ).toMatchObject(refusal(400, "validation_error", { field: "collection" }));
    const left_out = [{ sealed: "v0.", ends_at: null }];
    const at = { $: Date.UTC(2026) };
    const own = {
      ...{ _id: "ag_of_its_own", tenant_id, name: "n", status: "active", delivery_mode: "poll", a2a: false },
      ...{ push_format: "structured", push_stopped: false, token_version: 1, owner_version: 1 },
      created_at: at,
      ...{ signing_secrets: left_out, signing_version: 1, updated_at: at },
    };
    const page = { collection: "agents", rows: `${JSON.stringify(own)}\n` };
    for (const [added, same] of [
      [1, 0],
      [0, 1],
    ])
      expect(ok(await operator.post(`/tenants/${tenant_id}/import/rows`, page))).toEqual({
        ...{ added, same, left_out: 0, refused: [], unset: ["agents/ag_of_its_own"] },
      });
    const sealed = [{ sealed: new SecretBox(randomBytes(32)).seal("a secret", "agents"), ends_at: null }];
    const closed = { ...page, rows: JSON.stringify({ ...own, signing_secrets: sealed }) };
    const key = randomBytes(32).toString("base64");
    const refused = await operator.post(`/tenants/${tenant_id}/import/rows`, { ...closed, key });
    expect(refused).toMatchObject(refusal(400, "validation_error", { field: "key" }));
    expect(refused.body.error.message).toContain("agents/ag_of_its_own");
    await expect(worldOn(server, world)).rejects.toThrow("401");
    expect((await operator.post(`/tenants/${tenant_id}/export`)).status).toBe(404);
    expect((await operator.patch(`/tenants/${tenant_id}`, { status: "active" })).status).toBe(404);
    expect((await importing("whole.tar")).output).toContain("from another file");
    await mover.done(server.dataDir, `tenants erase ${world.slug} --confirm ${world.slug}`);
    expect((await importing("whole.tar")).output).toContain("erased here just now");
    const taken = { tenant: { ...tenant, id: "tn_of_another", slug: "default" }, export_id: "e" };
    expect(await operator.post("/tenants/import", taken)).toMatchObject(
      refusal(409, "conflict", { field: "slug" }),
    );
  });

  test("ends when it is complete: it adds nothing to a tenant in use", async () => {
    const { tenant } = JSON.parse(/\{[^\0]*?\n\}/.exec(bytes.toString("latin1"))?.[0] ?? "");
    const limits = { storage_quota_mb: 500, requests_per_minute: 700 };
    const small = { ...tenant, ...limits, id: "tn_small", slug: "small" };
    const asked = { tenant: small, export_id: "e" };
    const importing = async (more: object) => operator.post("/tenants/import", { ...asked, ...more });
    const begun = { status: "importing", slug: "small", done: false };
    expect([ok(await importing({})), ok(await importing({}))]).toEqual([begun, begun]);
    const opened = { status: "active", slug: "small", done: true };
    expect(ok(await importing({ complete: true }))).toEqual(opened);
    for (const more of [{}, { complete: true }]) expect(ok(await importing(more))).toEqual(opened);
    expect(await importing({ export_id: "a later export" })).toMatchObject({
      ...{ status: 409, body: { error: { message: "The tenant small is here already. Erase it first." } } },
    });
    const { tenants } = ok(await operator.get("/tenants?limit=200"));
    expect(tenants.find(({ id }: { id: string }) => id === "tn_small")).toMatchObject(limits);
    for (const [what, body] of [
      ["rows", { collection: "agents", rows: "" }],
      ["content", { content: "" }],
    ] as const)
      expect((await operator.post(`/tenants/tn_small/import/${what}`, body)).status).toBe(404);
  });

  test("without secrets gives new ones, pauses what lacks them, and names them", async () => {
    const command = `tenants import ${mover.file("bare.tar")}`;
    const { set_again } = await mover.done(server.dataDir, command);
    const [webhook, connector] = [await bare.idOf("whk"), await bare.idOf("con")];
    expect(set_again).toEqual(
      expect.arrayContaining([`agents/${bare.agentId}`, `webhooks/${webhook}`, `connectors/${connector}`]),
    );
    const { admin } = await worldOn(server, bare);
    expect(ok(await admin.get(`/ingest/connectors/${connector}`))).toMatchObject({ paused: true });
    const rotated = ok(await admin.post(`/ingest/webhooks/${webhook}:rotate`));
    expect(rotated.signing_secret).toMatch(/^whsec_/);
    // What was changed here stays.
    expect(await mover.done(server.dataDir, command)).toMatchObject({ imported_already: true });
    const { code, output } = await importing("bare-whole.tar");
    expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining("here already") });
  });
});
