/** @alone: looks into the files of one process. */
import { expect, test } from "@jest/globals";
import { ahead } from "../../../../test/support/ahead.ts";
import { heldIn, marker } from "../../../../test/support/kept-bytes.ts";
import { agentIn, makeCast } from "../../../../test/support/memories.ts";
import { blobsOf } from "../../../../test/support/record.ts";
import { settle } from "../../../../test/support/settle.ts";
import { ok } from "../../../../test/support/tenancy.ts";
import { useServer } from "../../../../test/support/use.ts";

const server = await useServer({ env: { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" } });
const cast = await makeCast(server);

const erase = async (body: object) => ok(await cast.orgAdmin.post("/memories/erase", body));
/** Too long for a row. */
const longer = (text: string) => `${text} ${"lorem ".repeat(20_000)}`;

test("leaves nothing: values that were replaced, deleted or have expired, and stored answers", async () => {
  const { alice } = cast;
  const [subject, tag] = [`Erika ${marker()}`, marker()];
  const metadata = { subject };
  const texts: Record<string, string> = { subject };
  const long = (what: string) => {
    texts[what] = marker();
    return longer(texts[what]);
  };
  const put = (key: string, body: object, headers = {}) =>
    alice.put(`/state/${tag}/${key}`, { metadata, ...body }, headers);
  texts.answer = marker();
  const blobs = async () => (await blobsOf(server, server.credentials.tenant_id)).length;
  ok(await put("current", { value: long("current") }));
  ok(await put("replaced", { value: long("replaced") }));
  expect(await blobs()).toBe(2);
  const expired = long("expired");
  ok(await ahead(2000, (expires_at) => put("expired", { value: expired, expires_at })));
  const answered = { value: "x", metadata: { subject, note: texts.answer } };
  ok(await put("answered", answered, { "idempotency-key": marker() }));
  ok(await put("deleted", { value: long("deleted") }));
  ok(await put("cleared.1", { value: long("cleared") }));
  const refused = await put("current", { value: long("refused"), if_version: 7 });
  expect(refused.status).toBe(409);
  ok(await put("replaced", { value: "short" }));
  ok(await alice.del(`/state/${tag}/deleted`));
  ok(await alice.del(`/state/${tag}?prefix=cleared`));
  const gone = ["replaced", "deleted", "cleared", "refused"].map((what) => [what, texts[what] as string]);
  // Long before any erasure or sweep.
  expect(await heldIn(server.dataDir, Object.fromEntries(gone))).toEqual([]);
  await settle(async () => (await alice.get(`/state/${tag}/expired`)).status === 404);

  const done = await erase({ subject });
  expect(done.erased.state_entries).toBeGreaterThanOrEqual(3);
  expect(await heldIn(server.dataDir, texts)).toEqual([]);
  await settle(async () => (await blobs()) === 0);
});

test("finds a subject that was given as a field, or in several entries at once", async () => {
  const subject = marker();
  ok(await cast.alice.put("/state/notes/one", { value: "1", subject }));
  ok(await cast.alice.post("/state/notes", { entries: [{ key: "two", value: "2", subject }] }));
  expect(ok(await cast.alice.get("/state/notes/two")).subject).toBe(subject);
  expect((await erase({ subject })).erased).toMatchObject({ state_entries: 2 });
});

test("what goes with a deleted or an erased agent is counted, and no blob is left", async () => {
  const { tenant_id } = server.credentials;
  const before = await blobsOf(server, tenant_id);
  for (const remove of [
    ({ id }: { id: string }) => cast.orgAdmin.del(`/agents/${id}`),
    ({ id }: { id: string }) => cast.orgAdmin.post("/memories/erase", { agent_id: id }),
  ]) {
    const agent = await agentIn(server, cast.admin, { name: "leaver" });
    ok(await agent.put("/state/ns/k", { value: longer(marker()) }));
    expect(await blobsOf(server, tenant_id)).toHaveLength(before.length + 1);
    expect(ok(await remove(agent)).erased).toMatchObject({ state_entries: 1 });
    // The rows of a deletion go a moment after its answer.
    await settle(async () => (await blobsOf(server, tenant_id)).join() === before.join());
  }
});
