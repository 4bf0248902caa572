import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "@jest/globals";
import { type MemoryDoc, MemoryModel } from "../../services/remember/memories/memories.model.ts";
import type { Answer } from "../support/http.ts";
import { meanwhile } from "../support/meanwhile.ts";
import { makeCast, memory, remember } from "../support/memories.ts";
import { inCluster } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";
import { useServer } from "../support/use.ts";

const COUNT = 40;
/** Kills that may come too late: between two steps there is about a millisecond. */
const ROUNDS = 10;
const PROPOSALS = "/memories/merge-proposals";

const server = await useServer({ env: { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" } });
const cast = await makeCast(server);

const numbers = Array.from({ length: COUNT }, (_, n) => n);
const read = async (id: string) => ok(await cast.alice.get(`/memories/${id}`));

/** How many rows of the embedded store are between two steps, seen from another process than the server's. */
function between({ table, mark }: { table: string; mark: string }): number {
  const db = new DatabaseSync(join(server.dataDir, "sensorium.db"), { readOnly: true });
  try {
    const { n } = db.prepare(`SELECT count(*) AS n FROM ${table} WHERE doc LIKE ?`).get(`%${mark}%`) as {
      n: number;
    };
    return n;
  } finally {
    db.close();
  }
}

/** Sends all of them, kills the server when some are between their steps, and starts it again. Gives the answers. */
async function cutOff(send: (n: number) => Promise<Answer>, step: Parameters<typeof between>[0]) {
  const answers = new Map<number, Answer>();
  for (let round = 0; round < ROUNDS; round++) {
    const some = numbers.slice((round * COUNT) / ROUNDS, ((round + 1) * COUNT) / ROUNDS);
    const sent = some.map((n) =>
      send(n).then(
        (answer) => void answers.set(n, answer),
        () => {},
      ),
    );
    let areAnswered = false;
    const answering = Promise.all(sent).then(() => {
      areAnswered = true;
    });
    const isSeen = () => areAnswered || inCluster() || between(step) > 0;
    await Promise.race([settle(isSeen, { every: 0, what: "a step" }), answering]);
    await server.kill();
    await Promise.all(sent);
    const isHit = inCluster() || between(step) > 0;
    await server.restart();
    // The service itself ends what it finds half done, also where nobody asks again.
    if (!inCluster()) await settle(() => between(step) === 0, { what: "an end of all that was begun" });
    if (isHit) return answers;
  }
  throw new Error("no kill came in between");
}

test("a killed server completes decided merges, and none partially", async () => {
  const { alice, orgAdmin } = cast;
  const proposals = await Promise.all(
    numbers.map(async (n) => {
      const [winner, loser] = await Promise.all([remember(alice), remember(alice)]);
      const pair = { memory_a_id: winner.id, memory_b_id: loser.id };
      return { n, id: ok(await alice.post(PROPOSALS, pair)).id, winner: winner.id, loser: loser.id };
    }),
  );
  const resolve = (n: number) => {
    const { id, winner } = proposals[n] as (typeof proposals)[0];
    const body = { surviving_memory_id: winner, merged_content: `Both ${n}` };
    return orgAdmin.post(`${PROPOSALS}/${id}/resolve`, body);
  };
  const answers = await cutOff(resolve, { table: "d_merge_proposals", mark: '"collapse_due_at":' });
  for (const { n, id, winner, loser } of proposals) {
    const { status } = ok(await orgAdmin.get(`${PROPOSALS}/${id}`));
    if (answers.has(n)) expect(status).toBe("resolved");
    if (status === "open") expect((await resolve(n)).status).toBe(200);
    await settle(async () => (await read(loser)).status === "merged", { what: `merge ${n}` });
    await settle(async () => (await read(winner)).content === `Both ${n}`, { what: `what merge ${n} says` });
    expect(await read(loser)).toMatchObject({ superseded_by: winner });
  }
});

test("a killed server supersedes a memory completely or not at all", async () => {
  const { alice } = cast;
  const olds = await Promise.all(
    numbers.map((n) => remember(alice, { title: `Old ${n}`, content: `place${n}x` })),
  );
  const replace = (n: number) => {
    const body = memory({ title: `New ${n}`, content: `place${n}x`, supersedes_id: olds[n].id });
    return alice.post("/memories", body, { "idempotency-key": `replace ${n}` });
  };
  const answers = await cutOff(replace, { table: "d_memories", mark: '"status":"pending"' });
  const inForce = async (n: number) => {
    const { memories } = ok(await alice.get(`/memories?search=place${n}x`));
    return memories as { id: string; title: string }[];
  };
  for (const n of numbers) {
    // One of the two is in force, never both, and soon not neither.
    const [one, ...others] = await settle(async () => {
      const found = await inForce(n);
      return found.length > 0 && found;
    });
    expect(others).toEqual([]);
    if (answers.has(n)) expect(one?.id).toBe(answers.get(n)?.body.id);
    // Said again, it is so, and once.
    const again = await settle(async () => {
      const answer = await replace(n);
      return answer.status === 201 && answer.body;
    });
    if (one?.title === `New ${n}`) expect(again.id).toBe(one.id);
    expect(await inForce(n)).toMatchObject([{ id: again.id, title: `New ${n}` }]);
    expect(await read(olds[n].id)).toMatchObject({ status: "superseded", superseded_by: again.id });
  }
});

test("a server that was killed after a correction ends the predecessor then", async () => {
  const old = await remember(cast.alice);
  const next = await remember(cast.alice, { supersedes_id: old.id });
  const at = new Date(Date.parse(next.created_at) - 3_600_000);
  await meanwhile(server, async (store) => {
    const announce: MemoryDoc["announce"] = [{ id: next.id, what: "updated", at: new Date() }];
    const $set = { valid_from: at, announce, announce_at: new Date(0) };
    const rows = store.collection(MemoryModel);
    await rows.update(server.credentials.tenant_id, { _id: next.id }, { $set, $inc: { version: 1 } });
  });
  const isEnded = async () => (await read(old.id)).valid_until === at.toISOString();
  await settle(isEnded, { what: "the predecessor's end" });
});
