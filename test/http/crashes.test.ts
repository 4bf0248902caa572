import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "@jest/globals";
import { type MemoryDoc, MemoryModel } from "../../services/remember/memories/memories.model.ts";
import { onGround, pollNow, pollSome } from "../support/deliveries.ts";
import { chunksOf, finished, foundBy, itself, textFile } from "../support/documents.ts";
import type { Answer } from "../support/http.ts";
import { meanwhile } from "../support/meanwhile.ts";
import { makeCast, memory, remember } from "../support/memories.ts";
import { newReceiver } from "../support/receiver.ts";
import { act, at, keysOf, newRun } from "../support/runs.ts";
import { inCluster } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";
import { useServer } from "../support/use.ts";

/** Kills of the server at one place each: what must be there when it is back. */

const server = await useServer({ env: { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" } });
const ground = { server, ...(await onGround(server)) };
const { admin: agent } = ground;

async function crash(): Promise<void> {
  await server.kill();
  await server.restart();
}

const TYPE = "com.example.crash";
const idsOf = (deliveries: { id: string }[]) => deliveries.map(({ id }) => id).toSorted();

test("after a SIGKILL, leased and waiting deliveries are redelivered, settled ones are not", async () => {
  const agent = { visibility_timeout_seconds: 3 };
  const receiver = await newReceiver(ground.server, ground.admin, "leased", { interests: [TYPE], agent });
  await Promise.all(Array.from({ length: 20 }, () => ground.publish(TYPE)));
  await settle(async () => ok(await receiver.api.get("/delivery/stats")).pending === 20);
  const all = idsOf(await pollNow(receiver.api));
  expect(all).toHaveLength(20);
  const [done, waiting] = [all.slice(0, 5), all.slice(5, 10)];
  ok(await receiver.api.post("/delivery/ack", { delivery_ids: done }));
  ok(await receiver.api.post("/delivery/nack", { delivery_ids: waiting, delay_seconds: 1 }));
  await crash();
  const again = new Map<string, number>();
  await settle(async () => {
    for (const { id, attempt_count } of await pollSome(receiver.api)) {
      if (!again.has(id)) again.set(id, attempt_count);
    }
    return again.size === 15;
  });
  expect([...again.keys()].toSorted()).toEqual(all.slice(5));
  expect(new Set(again.values())).toEqual(new Set([2]));
});

test("after a SIGKILL, an accepted replay is carried out", async () => {
  const type = `${TYPE}.replay`;
  const options = { interests: [type], agent: { retry_budget: 1 } };
  const receiver = await newReceiver(ground.server, ground.admin, "replayed", options);
  await Promise.all(Array.from({ length: 60 }, () => ground.publish(type)));
  await settle(async () => ok(await receiver.api.get("/delivery/stats")).pending === 60);
  const delivery_ids = idsOf(await pollNow(receiver.api));
  ok(await receiver.api.post("/delivery/nack", { delivery_ids, reason: "no" }));
  const reason = "max attempts exceeded (1): no";
  expect(ok(await receiver.api.post("/delivery/dlq/replay", { reason }))).toMatchObject({ count: 60 });
  await crash();
  await settle(async () => ok(await receiver.api.get("/delivery/stats")).dead === 0);
  const again = await pollNow(receiver.api);
  expect(idsOf(again)).toEqual(delivery_ids);
  expect(again.every(({ attempt_count }) => attempt_count === 1)).toBe(true);
});

/** Returns text for many chunks, each with a unique word. */
const longText = (name: string, paragraphs: number) =>
  Array.from(
    { length: paragraphs },
    (_, at) => `${name}${at} ${"and so it goes on and on. ".repeat(40)}`,
  ).join("\n\n");

test("documents accepted before a SIGKILL are parsed after it, once", async () => {
  const files = ["quagga", "okapi", "dugong"].map((name) =>
    textFile(longText(name, 400), { filename: name }),
  );
  const accepted: string[] = await Promise.all(
    files.map(async (file) => ok(await agent.post("/documents", file)).document_id),
  );
  // In the middle of one of them, or after the first: the states between may pass between two looks.
  await settle(async () => {
    const { documents } = ok(await agent.get("/documents"));
    return documents.some(({ status }: { status: string }) => status !== "queued");
  });
  await crash();
  for (const document_id of accepted) {
    const document = await finished(agent, document_id);
    expect(document).toMatchObject({ status: "stored", error: null });
    const { chunks, total } = ok(await agent.get(chunksOf(document, "&limit=100&offset=300")));
    expect(total).toBe(document.chunk_count);
    const answer = chunks.map(({ chunk_index }: { chunk_index: number }) => chunk_index);
    expect(answer).toEqual(chunks.map((_: unknown, at: number) => 300 + at));
    expect((await foundBy(agent, `${document.filename}321`))[0]).toBe(document.filename);
  }
  for (const file of files) expect((await agent.post("/documents", file)).status).toBe(200);
});

test("a deletion that was answered holds after a SIGKILL", async () => {
  const file = textFile(longText("axolotl", 300), { filename: "axolotl" });
  const document = await finished(agent, ok(await agent.post("/documents", file)).document_id);
  const path = `/documents/${document.document_id}`;
  expect(ok(await agent.del(itself(document))).deleted).toBe(true);
  await crash();
  expect((await agent.get(path)).status).toBe(404);
  expect(await foundBy(agent, "axolotl7")).not.toContain("axolotl");
});

test("saved outputs survive a crash complete, and are found even if not yet indexed", async () => {
  const filler = "Nothing of note was said in the meeting of that day. ".repeat(40_000);
  const body = `# Log\n\n${filler}\n\nThe quetzal was seen at noon.`;
  const { id } = ok(await agent.post("/outputs", { body }));
  const { id: old } = ok(await agent.post("/outputs", { body: "# Short\n\nAn axolotl." }));
  ok(await agent.post("/outputs", { output_id: old, body: "# Short\n\nA capybara." }));
  await crash();
  expect(ok(await agent.get(`/outputs/${id}`)).body).toBe(body);
  expect(ok(await agent.get(`/outputs/${old}/versions/1`)).body).toBe("# Short\n\nAn axolotl.");
  const found = async (query: string) =>
    ok(await agent.post("/outputs/search", { query })).results.map(
      ({ output }: { output: { id: string } }) => output.id,
    );
  await settle(async () => (await found("quetzal at noon"))[0] === id);
  await settle(async () => (await found("capybara")).includes(old));
});

test("whenever it is killed, no output is without its text", async () => {
  const bodyOf = (n: number) => `# Output ${n}\n\n${`line ${n} of many\n`.repeat(5000)}`;
  const answered = new Set<string>();
  for (const upTo of [40, 80]) {
    const saves = Array.from({ length: 40 }, async (_, i) => {
      const n = upTo - i;
      const { id } = ok(await agent.post("/outputs", { title: String(n), body: bodyOf(n) }));
      answered.add(id);
    });
    await Promise.any(saves);
    await server.kill();
    await Promise.allSettled(saves);
    await server.restart();
  }
  const { outputs } = ok(await agent.get("/outputs?limit=200"));
  const ids = new Set(outputs.map(({ id }: { id: string }) => id));
  expect([...answered].filter((id) => !ids.has(id))).toEqual([]);
  // Others are of the test before.
  for (const { id, title } of outputs.filter(({ title }: { title: string }) => /^\d+$/.test(title)))
    expect(ok(await agent.get(`/outputs/${id}`)).body === bodyOf(Number(title))).toBe(true);
});

test("answered changes of a run survive a crash, and are published once", async () => {
  const { id } = server.credentials.agent;
  ok(await agent.post(`/agents/${id}/interests`, { event_type: "service.run.step_completed" }));
  const run = await newRun(agent);
  const artifact = ok(
    await agent.post(at(run, "artifacts"), { kind: "note", pointer: { uri: "file:///a" } }),
  );
  const held = Buffer.from("what it held").toString("base64");
  const artifact_contents = [{ artifact_id: artifact.id, content_base64: held, mime_type: "text/plain" }];
  ok(await act(agent, run, "complete", { step_key: "a", artifact_contents }));
  ok(await act(agent, run, "start", { step_key: "b" }));
  ok(await act(agent, run, "complete", { step_key: "b" }));
  await crash();
  expect(keysOf(ok(await agent.get(at(run, "history"))).items)).toEqual(["a", "b"]);
  const { steps } = ok(await agent.get(`/runs/${run.id}`));
  expect(steps[1].attempts).toEqual([expect.objectContaining({ outcome: "completed" })]);
  const told: string[] = [];
  await settle(async () => {
    const deliveries = await pollSome(agent);
    ok(await agent.post("/delivery/ack", { delivery_ids: idsOf(deliveries) }));
    told.push(...deliveries.map(({ payload }) => payload.data.step_key));
    return told.length >= 2;
  });
  expect(told.sort()).toEqual(["a", "b"]);
  const [kept] = await settle(async () => {
    const { artifacts } = ok(await agent.get(at(run, "artifacts")));
    return artifacts[0].content_hash && artifacts;
  });
  expect(kept.byte_size).toBe("what it held".length);
  ok(await act(agent, run, "complete", { step_key: "c" }));
  expect(ok(await act(agent, run, "complete", { step_key: "d" }))).toMatchObject({ run_completed: true });
});

test("over a kill, an awaited event completes its step and a deadline passes, once, and waits go on", async () => {
  const wait_for = { event_type: "com.example.paid", filter_expression: "data.order == run.values.order" };
  const late = { step_key: "late", deadline_seconds: 2, on_deadline: "skip" };
  const steps = [{ step_key: "paid", wait_for }, late, { step_key: "ship", depends_on: ["paid"] }];
  const runs = 8;
  const orders = Array.from({ length: runs }, (_, i) => i);
  const made = await Promise.all(orders.map((order) => newRun(agent, { steps, values: { order } })));
  const pay = (order: number) =>
    agent.post("/events", {
      ...{ specversion: "1.0", type: "com.example.paid", source: "/shop", id: `paid-${order}` },
      data: { order },
    });
  // All but the last are accepted; the kill comes while they are fanned out.
  const sent = await Promise.all(orders.slice(0, -1).map(pay));
  for (const answer of sent) expect(answer.status).toBe(202);
  await crash();
  ok(await pay(runs - 1));
  for (const run of made) {
    await settle(async () => ok(await agent.get(`/runs/${run.id}`)).steps[2].status === "ready");
    const { items } = ok(await agent.get(at(run, "history")));
    expect(items).toMatchObject([{ step_key: "paid", actor_kind: "event" }]);
    const { actions } = await settle(async () => {
      const done = ok(await agent.get(at(run, "history?include=actions")));
      return done.actions.some(({ kind }: { kind: string }) => kind === "step_skipped") && done;
    });
    const ends = actions.filter(({ step_key }: { step_key: string }) => step_key === "late");
    expect(ends.map(({ kind }: { kind: string }) => kind)).toEqual(["step_deadline_passed", "step_skipped"]);
  }
});

const ROUNDS = 3;
const AGENTS = 30;

test("a crash between an effect and its answer neither loses nor repeats the effect", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const names = Array.from({ length: AGENTS }, (_, n) => `agent ${round}.${n}`);
    const make = (name: string) =>
      agent.post("/agents", { name, delivery_mode: "poll" }, { "idempotency-key": name });
    const answered = new Map<string, Answer>();
    const enough = AGENTS * ((round + 1) / (ROUNDS + 1));
    await new Promise<void>((resolve) => {
      for (const name of names)
        make(name).then(
          (answer) => answered.set(name, answer).size >= enough && resolve(),
          () => {},
        );
    });
    await crash();
    const again = await Promise.all(names.map(async (name) => [name, await make(name)] as const));
    expect(again.filter(([, { status }]) => status !== 201)).toEqual([]);
    for (const [name, { body }] of again) {
      const before = answered.get(name);
      if (before) expect(body).toEqual(before.body);
    }
    const { body } = await agent.get("/agents?limit=200");
    const made = body.agents
      .map((agent: { name: string }) => agent.name)
      .filter((name: string) => names.includes(name));
    expect(made.sort()).toEqual(names.sort());
  }
});

const COUNT = 40;
/** Kills that may come too late: between two steps there is about a millisecond. */
const KILLS = 10;
const PROPOSALS = "/memories/merge-proposals";

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
  for (let round = 0; round < KILLS; round++) {
    const some = numbers.slice((round * COUNT) / KILLS, ((round + 1) * COUNT) / KILLS);
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
