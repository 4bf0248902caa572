/** @alone: looks into the files of one process. */
import { describe, expect, test } from "@jest/globals";
import { ahead } from "../../../../test/support/ahead.ts";
import { heldIn, marker } from "../../../../test/support/kept-bytes.ts";
import { agentIn, makeCast } from "../../../../test/support/memories.ts";
import { blobsOf } from "../../../../test/support/record.ts";
import { settle } from "../../../../test/support/settle.ts";
import { ok } from "../../../../test/support/tenancy.ts";
import { useServer } from "../../../../test/support/use.ts";

type TestAgent = Awaited<ReturnType<typeof agentIn>>;

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
  ok(await put("current", { value: long("current") }));
  ok(await put("replaced", { value: long("replaced") }));
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
});

test("finds a subject that was given as a field, or in several entries at once", async () => {
  const subject = marker();
  ok(await cast.alice.put("/state/notes/one", { value: "1", subject }));
  ok(await cast.alice.post("/state/notes", { entries: [{ key: "two", value: "2", subject }] }));
  expect(ok(await cast.alice.get("/state/notes/two")).subject).toBe(subject);
  expect((await erase({ subject })).erased).toMatchObject({ state_entries: 2 });
});

test("counts what goes with a deleted agent", async () => {
  const agent = await agentIn(server, cast.admin, { name: "leaver" });
  ok(await agent.put("/state/ns/k", { value: "x" }));
  expect(ok(await cast.orgAdmin.del(`/agents/${agent.id}`)).erased).toMatchObject({ state_entries: 1 });
  expect((await agent.get("/state")).status).toBe(401);
});

describe("no blob is left", () => {
  const put = async (by: TestAgent, body: object) => ok(await by.put("/state/blobs/one", body));

  /** Each makes a blob, and returns what removes it. */
  const MADE: [name: string, () => Promise<() => Promise<unknown>>][] = Object.entries({
    async "of a person's values"() {
      const subject = marker();
      await put(cast.alice, { value: longer(subject), subject });
      return () => erase({ subject });
    },
    async "of a value that is replaced"() {
      await put(cast.alice, { value: longer(marker()) });
      return () => put(cast.alice, { value: "short" });
    },
    async "of an erased agent's values"() {
      const agent = await agentIn(server, cast.admin, { name: "erased" });
      await put(agent, { value: longer(marker()) });
      return () => erase({ agent_id: agent.id });
    },
    async "of a deleted agent's values"() {
      const agent = await agentIn(server, cast.admin, { name: "deleted" });
      await put(agent, { value: longer(marker()) });
      return async () => ok(await cast.orgAdmin.del(`/agents/${agent.id}`));
    },
  });

  test.each(MADE)("%s", async (_, make) => {
    const { tenant_id } = server.credentials;
    const before = await blobsOf(server, tenant_id);
    const remove = await make();
    expect(await blobsOf(server, tenant_id)).toHaveLength(before.length + 1);
    await remove();
    // The rows of a deletion go a moment after its answer.
    await settle(async () => (await blobsOf(server, tenant_id)).join() === before.join());
  });
});
