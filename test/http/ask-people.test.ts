import { createHash, createPublicKey } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import jwt from "jsonwebtoken";
import { newAgent, receive } from "../support/agents.ts";
import { type Api, api } from "../support/http.ts";
import { agentIn, makeCast, remember } from "../support/memories.ts";
import { newRun } from "../support/runs.ts";
import { settle } from "../support/settle.ts";
import { ABSENT, ok, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const SCOPES = ["send", "receive", "memory:read", "memory:write"];
const QUESTION = { title: "Refund order 1042?", question: "The cup is **broken**." };

const server = await useShared();
const cast = await makeCast(server);
const asker = await agentIn(server, cast.admin, { name: "refunds" }, SCOPES);
const { users } = ok(await cast.orgAdmin.get("/users"));
const idOf = (part: string) =>
  users.find(({ email, role }: { email: string; role: string }) => email.includes(part) || role === part).id;
/** The organisation's admin and the owner of an agent of team A. */
const [adminId, ownerId] = [idOf("admin"), idOf("owner@")];
const runId = (await newRun(asker)).id;

const ask = async (more: object = {}, by: Api = asker) =>
  ok(await by.post("/approvals", { ...QUESTION, ...more }));
const answer = (by: Api, id: string, choice = "approve", more: object = {}) =>
  by.post(`/approvals/${id}/answer`, { choice, ...more });
const statusOf = async (by: Api, id: string) => (await by.get(`/approvals/${id}`)).status;

async function readReceipt(receipt: string) {
  const { keys } = ok(await api({ url: server.root }).get("/.well-known/jwks.json"));
  const kid = jwt.decode(receipt, { complete: true })?.header.kid;
  const jwk = keys.find((key: { kid: string }) => key.kid === kid);
  const key = createPublicKey({ key: jwk, format: "jwk" });
  return jwt.verify(receipt, key, { algorithms: ["ES256"], audience: "sensorium-receipt" }) as {
    approval: object;
  };
}

describe("a question", () => {
  test("is answered by an admin, delivered to the agent without an interest, and has a receipt", async () => {
    const content = "Cups break in transit.";
    const memory_id = (await remember(asker, { content })).id;
    const run = await newRun(asker);
    const evidence = [
      { kind: "memory", id: memory_id },
      { kind: "link", id: "https://shop.example/orders/1042" },
    ];
    const asked = await ask({ evidence, run_id: run.id, step_key: "a", subject: "customer:42" });
    const digest = createHash("sha256").update(content).digest("hex");
    expect(asked).toMatchObject({
      ...QUESTION,
      ...{ status: "open", choices: ["approve", "reject"], assignees: ["admins"], run_id: run.id },
      ...{ agent_id: asker.id, user_id: null, on_deadline: "expired", choice: null, subject: "customer:42" },
      evidence: [
        { ...evidence[0], sha256: digest },
        { ...evidence[1], sha256: null },
      ],
    });
    await refused(asker.get(`/approvals/${asked.id}/receipt`), "conflict");

    const answered = ok(await answer(cast.orgAdmin, asked.id, "approve", { text: "For this one." }));
    expect(answered).toMatchObject({
      ...{ status: "answered", choice: "approve", text: "For this one.", answered_by: "signed_in" },
      ...{ answered_by_user_id: adminId, settled_at: expect.any(String) },
    });
    const [delivery] = await receive(asker, 1);
    expect(delivery.payload).toMatchObject({
      ...{ type: "service.approval.answered", source: "sensorium", subject: asked.id },
      data: {
        ...{ approval_id: asked.id, run_id: run.id, step_key: "a" },
        ...{ choice: "approve", answered_by_user_id: adminId },
      },
    });
    expect(ok(await asker.get(`/approvals/${asked.id}`))).toEqual(answered);
    const { receipt } = ok(await asker.get(`/approvals/${asked.id}/receipt`));
    expect((await readReceipt(receipt)).approval).toEqual(answered);
    const { entries } = ok(await cast.orgAdmin.get(`/audit?action=approvals.answer`));
    expect(entries[0]).toMatchObject({ resource_id: asked.id, actor_id: adminId, outcome: "done" });
    expect(JSON.stringify(entries[0])).not.toContain("For this one.");
  });

  test("of two people one answers, and the other learns who did", async () => {
    const { id } = await ask({ assignees: [cast.teamA, "admins"] });
    const calls = [answer(cast.orgAdmin, id), answer(cast.owner, id, "reject", { text: "No." })];
    const answers = await Promise.all(calls);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const winner = answers.find(({ status }) => status === 200)?.body;
    const loser = answers.find(({ status }) => status === 409)?.body;
    expect(loser.error).toMatchObject({
      ...{ code: "conflict", message: expect.stringContaining(winner.answered_by_user_id) },
      details: { choice: winner.choice, answered_by_user_id: winner.answered_by_user_id },
    });
    const [by, choice] = winner.answered_by_user_id === adminId ? [cast.orgAdmin] : [cast.owner, "reject"];
    const same = winner.text === null ? {} : { text: winner.text };
    expect(ok(await answer(by, id, choice, same))).toEqual(winner);
    await refused(asker.post(`/approvals/${id}/cancel`), "conflict");
  });

  test("is seen and answered by its assignees", async () => {
    const forOwner = (await ask({ assignees: [ownerId] })).id;
    const forTeam = (await ask({ assignees: [cast.teamA] })).id;
    const forAdmins = (await ask()).id;
    const idsFor = async (who: Api) =>
      ok(await who.get("/approvals?status=open&limit=200")).approvals.map(({ id }: { id: string }) => id);
    expect(await idsFor(cast.orgAdmin)).toEqual(expect.arrayContaining([forOwner, forTeam, forAdmins]));
    expect(await idsFor(cast.owner)).toEqual([forTeam, forOwner]);
    expect(await idsFor(cast.member)).toEqual([]);
    expect(await idsFor(asker)).toEqual(expect.arrayContaining([forOwner, forTeam, forAdmins]));
    expect(await idsFor(cast.alice)).toEqual([]);
    expect(await statusOf(cast.member, forTeam)).toBe(404);
    expect(await statusOf(cast.alice, forTeam)).toBe(404);
    await refused(answer(cast.member, forTeam), "not_found");
    expect(ok(await answer(cast.owner, forTeam)).answered_by_user_id).toBe(ownerId);

    const page = ok(await cast.orgAdmin.get("/approvals?limit=1"));
    const next = ok(await cast.orgAdmin.get(`/approvals?limit=1&cursor=${page.next}`));
    expect(next.approvals[0].created_at <= page.approvals[0].created_at).toBe(true);
    expect(next.approvals[0].id).not.toBe(page.approvals[0].id);
  });

  test("is canceled by the asker or an admin, and the asker hears of it", async () => {
    const [own, other] = [(await ask()).id, (await ask({ assignees: [ownerId] })).id];
    const fresh = await agentIn(server, cast.admin, { name: "fresh" }, SCOPES);
    const theirs = (await ask({}, fresh)).id;
    expect(ok(await asker.post(`/approvals/${own}/cancel`)).status).toBe("canceled");
    expect(ok(await asker.post(`/approvals/${own}/cancel`)).status).toBe("canceled");
    await refused(cast.owner.post(`/approvals/${other}/cancel`), "forbidden");
    ok(await cast.orgAdmin.post(`/approvals/${theirs}/cancel`));
    const [{ payload }] = await receive(fresh, 1);
    expect(payload).toMatchObject({ type: "service.approval.canceled", data: { approval_id: theirs } });
    await refused(answer(cast.orgAdmin, theirs), "conflict", { status: "canceled" });
  });

  test("of a person is announced to agents with an interest", async () => {
    const watcher = await newAgent(server, cast.admin);
    ok(await watcher.post(`/agents/${watcher.id}/interests`, { event_type: "service.approval.*" }));
    const asked = await ask({ assignees: ["admins"] }, cast.member);
    expect(asked).toMatchObject({ agent_id: null, user_id: expect.stringMatching(/^usr_/) });
    ok(await answer(cast.orgAdmin, asked.id));
    const told = await receive(watcher, 2);
    const found = told.map(({ payload }) => payload.type).sort();
    expect(found).toEqual(["service.approval.answered", "service.approval.requested"]);
  });

  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
  const soon = () => inDays(1);
  const LATE = { escalate_to: ["admins"], escalate_after_seconds: 60 };
  test.each<[string, () => object, string]>([
    ["an unknown memory", () => ({ evidence: [{ kind: "memory", id: ABSENT }] }), "evidence"],
    ["an unknown output", () => ({ evidence: [{ kind: "output", id: "none" }] }), "evidence"],
    ["an unknown document", () => ({ evidence: [{ kind: "document", id: ABSENT }] }), "evidence"],
    ["an unknown event", () => ({ evidence: [{ kind: "event", id: "evt_none" }] }), "evidence"],
    ["a link that is none", () => ({ evidence: [{ kind: "link", id: "javascript:1" }] }), "evidence"],
    ["an unknown person", () => ({ assignees: ["usr_none"] }), "assignees"],
    ["an unknown team", () => ({ assignees: ["team_none"] }), "assignees"],
    ["a step without its run", () => ({ step_key: "a" }), "step_key"],
    ["a step that the run does not have", () => ({ run_id: runId, step_key: "none" }), "step_key"],
    ["a deadline in the past", () => ({ deadline_at: "2020-01-01T00:00:00.000Z" }), "deadline_at"],
    ["a deadline in four months", () => ({ deadline_at: inDays(120) }), "deadline_at"],
    ["two deadlines", () => ({ deadline_at: soon(), deadline_seconds: 60 }), "deadline_at"],
    ["a default that is no choice", () => ({ on_deadline: "maybe" }), "on_deadline"],
    ["an escalation to nobody", () => ({ escalate_after_seconds: 60 }), "escalate_to"],
    ["an escalation after the deadline", () => ({ ...LATE, deadline_seconds: 60 }), "escalate_after_seconds"],
  ])("is refused with %s", async (_, more, field) => {
    await refused(asker.post("/approvals", { ...QUESTION, ...more() }), "validation_error", { field });
  });

  test("about another's memory or run is refused", async () => {
    const { id: others } = await remember(cast.carol);
    const found = await asker.post("/approvals", { ...QUESTION, evidence: [{ kind: "memory", id: others }] });
    await refused(found, "validation_error", "evidence");
    await refused(asker.post("/approvals", { ...QUESTION, run_id: ABSENT }), "not_found");
    const { id } = await ask({ text_allowed: false });
    await refused(answer(cast.orgAdmin, id, "maybe"), "validation_error", "choice");
    await refused(answer(cast.orgAdmin, id, "approve", { text: "x" }), "validation_error", "text");
  });

  test("has digests of an event, an output and a document, and says what has changed since", async () => {
    const fields = { ...{ specversion: "1.0", id: "e1", source: "/t", type: "com.x", data: { n: 1 } } };
    const published = ok(await asker.post("/events", fields));
    const output = ok(await asker.post("/outputs", { body: `# Report\n\n${"same ".repeat(500)}old` }));
    const memory = await remember(asker, { title: "Cups", content: "Cups break." });
    const corrected = await remember(asker, { title: "Plates", content: "Plates break." });
    const file_content = Buffer.from("a manual").toString("base64");
    const file = { file_content, filename: "m.md", mime_type: "text/markdown", sensitivity: "internal" };
    const document = ok(await asker.post("/documents", file));
    const evidence = [
      { kind: "event", id: published.event_id },
      { kind: "output", id: output.id },
      { kind: "document", id: document.document_id },
      { kind: "memory", id: memory.id },
      { kind: "memory", id: corrected.id },
      { kind: "link", id: "https://shop.example/" },
    ];
    const asked = await ask({ evidence, assignees: [ownerId] });
    expect(asked.evidence.slice(0, 3).map(({ sha256 }: { sha256: string }) => sha256)).toEqual([
      expect.stringMatching(/^[0-9a-f]{64}$/),
      output.content_hash,
      createHash("sha256").update("a manual").digest("hex"),
    ]);

    const cardsOf = async (who: Api) => ok(await who.get(`/approvals/${asked.id}/evidence`)).evidence;
    const settled = await settle(async () => {
      const cards = await cardsOf(asker);
      return cards[2].text !== "" && cards;
    });
    const unchanged = { state: "unchanged", current: null };
    expect(settled).toMatchObject([
      { ...evidence[0], ...unchanged, title: "com.x", text: '{\n  "n": 1\n}' },
      { ...evidence[1], ...unchanged, title: "Report", text: expect.stringMatching(/^# Report.+…$/s) },
      { ...evidence[2], ...unchanged, title: "m.md", text: "a manual" },
      { ...evidence[3], ...unchanged, title: "Cups", text: "Cups break." },
      { ...evidence[4], ...unchanged, title: "Plates" },
      { ...evidence[5], state: null, title: "https://shop.example/", text: null, current: null },
    ]);

    ok(await asker.post("/outputs", { output_id: output.id, body: `# Report\n\n${"same ".repeat(500)}new` }));
    const newer = { title: "Cups, newer", content: "Cups last." };
    for (let time = 0, supersedes_id = memory.id; time < 2; time++)
      supersedes_id = (await remember(asker, { ...newer, supersedes_id })).id;
    ok(await asker.patch(`/memories/${corrected.id}`, { content: "Plates last." }));
    const [, report, , cup, plate] = await cardsOf(asker);
    expect(report).toMatchObject({ state: "changed", text: expect.stringMatching(/^….*same old$/) });
    expect(report.current).toMatchObject({ id: output.id, text: expect.stringMatching(/^….*same new$/) });
    expect(cup).toMatchObject({ state: "superseded", text: "Cups break.", current: { text: "Cups last." } });
    expect(cup.current.title).toBe("Cups, newer");
    expect(plate).toMatchObject({ state: "changed", text: "Plates last.", current: null });
    ok(await asker.post(`/memories/${corrected.id}/forget`, {}));
    expect((await cardsOf(asker))[4].state).not.toBe("unchanged");

    const hidden = { state: "unavailable", title: null, text: null, current: null };
    expect(await cardsOf(cast.owner)).toMatchObject([{}, hidden, {}, hidden, hidden, { state: null }]);
    expect((await cast.member.get(`/approvals/${asked.id}/evidence`)).status).toBe(404);
  });
});

test("of an asker at most 200 questions are open", async () => {
  const eager = await agentIn(server, cast.admin, { name: "eager" }, SCOPES);
  const some = () => Promise.all(Array.from({ length: 20 }, () => ask({}, eager)));
  for (let asked = 0; asked < 200; asked += 20) await some();
  const one = () => eager.post("/approvals", QUESTION);
  await refused(one(), "business_rule_violation", { rule: "approval_limit" });
  const { approvals } = ok(await eager.get("/approvals?limit=1"));
  ok(await eager.post(`/approvals/${approvals[0].id}/cancel`));
  expect((await one()).status).toBe(201);
});

describe("a deadline", () => {
  test("expires the question, or answers it with the default", async () => {
    const waiting = await agentIn(server, cast.admin, { name: "waits" }, SCOPES);
    const over = await ask({ deadline_seconds: 1 }, waiting);
    const decided = await ask({ deadline_seconds: 1, on_deadline: "reject" }, waiting);
    const told = await receive(waiting, 2);
    const types = new Map(told.map(({ payload }) => [payload.subject, payload.type]));
    expect(types.get(over.id)).toBe("service.approval.expired");
    expect(types.get(decided.id)).toBe("service.approval.answered");
    expect(ok(await waiting.get(`/approvals/${over.id}`)).status).toBe("expired");
    expect(ok(await waiting.get(`/approvals/${decided.id}`))).toMatchObject({
      ...{ status: "answered", choice: "reject", answered_by: "deadline", answered_by_user_id: null },
    });
    await refused(answer(cast.orgAdmin, decided.id), "conflict");
  });

  test("is preceded by an escalation to further people", async () => {
    const others = { assignees: ["admins"], escalate_to: [ownerId] };
    const { id: later } = await ask({ ...others, escalate_after_seconds: 3600 });
    const { id } = await ask({ ...others, escalate_after_seconds: 1 });
    const seen = await settle(async () => {
      const { status, body } = await cast.owner.get(`/approvals/${id}`);
      return status === 200 && body;
    });
    expect(seen).toMatchObject({ assignees: ["admins", ownerId], escalated_at: expect.any(String) });
    expect(await statusOf(cast.owner, later)).toBe(404);
    expect(ok(await answer(cast.owner, id)).status).toBe("answered");
  });
});

test("erasing a subject, an agent or a memory erases the approvals with it", async () => {
  const leaving = await agentIn(server, cast.admin, { name: "leaving" }, SCOPES);
  const { id: memory } = await remember(asker);
  const about = await ask({ subject: "customer:77" });
  const cites = await ask({ evidence: [{ kind: "memory", id: memory }] });
  const theirs = await ask({}, leaving);
  const kept = await ask();
  for (const target of [{ subject: "customer:77" }, { ids: [memory] }, { agent_id: leaving.id }]) {
    const { erased } = ok(await cast.orgAdmin.post("/memories/erase", target));
    expect(erased.approvals).toBe(1);
  }
  for (const { id } of [about, cites, theirs]) expect(await statusOf(cast.orgAdmin, id)).toBe(404);
  expect(await statusOf(cast.orgAdmin, kept.id)).toBe(200);
});
