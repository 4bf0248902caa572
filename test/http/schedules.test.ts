import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { firstAgent, newAgent, receive } from "../support/agents.ts";
import { ahead } from "../support/ahead.ts";
import { startAlone } from "../support/alone.ts";
import { type Api, api } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { ok, refusal, refused, signIn } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

/** MAX_SCHEDULES_PER_AGENT. */
const LIMIT = 100;

const server = await useShared();
const admin = await firstAgent(server);
const { admin: founder, tenant_slug } = server.credentials;
const orgAdmin = api(server, await signIn(server, founder, tenant_slug));

const YEARLY = { cron: "0 0 1 1 *", event: { type: "com.example.yearly" } };
const create = async (by: Api, more: object = {}) =>
  ok(await by.post("/schedules", { name: "a schedule", ...YEARLY, ...more }));
const published = async (type: string) => ok(await admin.get(`/events?type=${type}`)).events;

describe("a schedule", () => {
  test("once: publishes its event at the time, as its owner, and ends", async () => {
    const sender = await newAgent(server, admin);
    const receiver = await newAgent(server, admin);
    ok(await receiver.post(`/agents/${receiver.id}/interests`, { event_type: "com.once.*" }));
    const event = { type: "com.once.due", subject: "report/1", data: { n: [1, null] }, comexampleext: "x" };
    const [at, made] = await ahead(2000, async (at) => [
      at,
      await create(sender, { name: "once", cron: undefined, at, event }),
    ]);
    expect(made).toMatchObject({
      ...{ name: "once", owner_id: sender.id, status: "active", event, cron: null, at, time_zone: "UTC" },
      ...{ on_missed: "run_once", paused: false, next_run_at: at, last_run_at: null, run_count: 0 },
    });
    const [delivery] = await receive(receiver, 1);
    expect(delivery.payload).toMatchObject({
      ...{ specversion: "1.0", source: `sensorium/schedules/${made.id}`, time: at, ...event },
    });
    const page = ok(await admin.get(`/events/${delivery.event_id}`));
    expect(page).toMatchObject({ publisher_id: sender.id });
    expect(page.accepted_at >= at).toBe(true);
    const ended = await settle(async () => {
      const now = ok(await sender.get(`/schedules/${made.id}`));
      return now.status === "ended" && now;
    });
    expect(ended).toMatchObject({
      ...{ next_run_at: null, last_run_at: at, last_event_id: delivery.event_id, run_count: 1 },
      ...{ last_error: null, last_missed_at: null },
    });
    await refused(sender.patch(`/schedules/${made.id}`, { paused: false, at }), "validation_error", "at");
    const again = ok(await sender.patch(`/schedules/${made.id}`, { cron: "0 9 * * *" }));
    expect(again).toMatchObject({ status: "active", at: null, cron: "0 9 * * *", run_count: 1 });
  });

  test("of every minute publishes at the full minute, and is due a minute later", async () => {
    // Its clock has just passed a full minute, and is then set to the next one.
    const NODE_OPTIONS = `--import ${join(import.meta.dirname, "../support/skewed-clock.mjs")}`;
    const CLOCK_SKEW_MS = String(60_000 - (Date.now() % 60_000));
    const env = { NODE_OPTIONS, CLOCK_SKEW_MS, CLOCK_STEP_MS: "60000" };
    await using other = await startAlone({ env });
    const { admin: user, tenant_slug } = other.credentials;
    const by = api(other, await signIn(other, user, tenant_slug));
    const made = await create(by, { cron: "* * * * *", event: { type: "com.minutely.tick" } });
    process.kill(other.pid(), "SIGUSR2");
    const after = await settle(async () => {
      const now = ok(await by.get(`/schedules/${made.id}`));
      return now.run_count > 0 && now;
    });
    const { events } = ok(await by.get("/events?type=com.minutely.tick"));
    expect(events).toMatchObject([{ payload: { time: made.next_run_at } }]);
    expect(Date.parse(after.next_run_at) - Date.parse(made.next_run_at)).toBe(60_000);
  });

  test("is paused and resumed, and what passed meanwhile is not made up for", async () => {
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const made = await create(orgAdmin, { cron: undefined, at, paused: true });
    expect(made).toMatchObject({ status: "paused", next_run_at: null });
    const resumed = ok(await orgAdmin.patch(`/schedules/${made.id}`, { paused: false }));
    expect(resumed).toMatchObject({ status: "active", next_run_at: made.at });
    const meanwhile = { paused: true, event: { type: "com.paused.x" } };
    const { status, at: over } = await ahead(1000, async (at) =>
      ok(await orgAdmin.patch(`/schedules/${made.id}`, { ...meanwhile, at })),
    );
    expect(status).toBe("paused");
    await settle(() => Date.now() > Date.parse(over) + 300);
    await refused(orgAdmin.patch(`/schedules/${made.id}`, { paused: false }), "validation_error", "at");
    expect(await published("com.paused.x")).toEqual([]);
    expect((await orgAdmin.del(`/schedules/${made.id}`)).status).toBe(204);
    expect((await orgAdmin.get(`/schedules/${made.id}`)).status).toBe(404);
  });

  test("runs now, also while it is paused, and keeps its next tick", async () => {
    const made = await create(orgAdmin, { event: { type: "com.now.x", source: "/mine" }, paused: true });
    const answer = await orgAdmin.post(`/schedules/${made.id}:run`, {});
    expect(answer).toMatchObject({ status: 202, body: { status: "accepted" } });
    const { event_id } = answer.body;
    expect(await published("com.now.x")).toMatchObject([{ event_id, payload: { source: "/mine" } }]);
    expect(ok(await orgAdmin.get(`/schedules/${made.id}`))).toMatchObject({
      ...{ run_count: 1, last_event_id: event_id, next_run_at: null, status: "paused" },
    });
  });

  test("a change of its name keeps its next tick; a change of its timing does not", async () => {
    const made = await create(orgAdmin, { time_zone: "Asia/Tokyo" });
    expect(made.next_run_at).toMatch(/-12-31T15:00:00.000Z$/);
    const named = ok(await orgAdmin.patch(`/schedules/${made.id}`, { name: "other", on_missed: "skip" }));
    expect(named).toMatchObject({ name: "other", on_missed: "skip", next_run_at: made.next_run_at });
    const moved = ok(await orgAdmin.patch(`/schedules/${made.id}`, { time_zone: "UTC" }));
    const next_run_at = expect.stringMatching(/-01-01T00:00:00.000Z$/);
    expect(moved).toMatchObject({ time_zone: "UTC", next_run_at });
  });

  test("of an inactive agent waits, and is made up for when it is active again", async () => {
    const sender = await newAgent(server, admin);
    const status = async (status: string) => ok(await admin.patch(`/agents/${sender.id}/status`, { status }));
    const made = await ahead(2000, async (at) => {
      await status("active");
      const made = await create(sender, { cron: undefined, at, event: { type: "com.held.x", subject: at } });
      await status("inactive");
      return made;
    });
    const held = await settle(async () => {
      const now = ok(await orgAdmin.get(`/schedules/${made.id}`));
      return now.last_error && now;
    });
    expect(held).toMatchObject({
      ...{ status: "active", next_run_at: made.at, run_count: 0 },
      last_error: expect.stringContaining(sender.id),
    });
    const { subject } = made.event;
    const ofMade = async () => ok(await admin.get(`/events?type=com.held.x&subject=${subject}`)).events;
    expect(await ofMade()).toEqual([]);
    await status("active");
    // A change is looked at without the pause between looks.
    await ahead(1000, async (at) => ok(await orgAdmin.patch(`/schedules/${made.id}`, { at })));
    await settle(async () => (await ofMade()).length === 1);
  });
});

test("who may agents manage their own schedules, admins all; others see none", async () => {
  const [one, other] = [await newAgent(server, admin), await newAgent(server, admin)];
  const made = await create(one);
  expect(ok(await one.get("/schedules"))).toMatchObject({ schedules: [{ id: made.id }], total: 1 });
  expect(ok(await other.get("/schedules"))).toEqual({ schedules: [], total: 0 });
  expect(ok(await other.get(`/schedules?owner_id=${one.id}`)).total).toBe(0);
  expect(ok(await orgAdmin.get(`/schedules?owner_id=${one.id}`)).total).toBe(1);
  const path = `/schedules/${made.id}`;
  for (const asked of [other.get(path), other.patch(path, { name: "x" }), other.post(`${path}:run`, {})])
    await refused(asked, "not_found");
  await refused(other.del(path), "not_found");
  expect(ok(await orgAdmin.patch(path, { name: "renamed" }))).toMatchObject({ owner_id: one.id });
  expect((await one.del(path)).status).toBe(204);
  const { entries } = ok(await orgAdmin.get(`/audit?resource_id=${made.id}&outcome=done`));
  expect(entries.map(({ action }: { action: string }) => action).toSorted()).toEqual([
    ...["schedules.create", "schedules.delete", "schedules.update"],
  ]);
});

test("who may the number of schedules of an owner is limited; ended ones do not count", async () => {
  const one = await newAgent(server, admin);
  const [first] = await Promise.all(Array.from({ length: LIMIT }, () => create(one)));
  const full = refusal(422, "business_rule_violation", { rule: "schedule_limit" });
  expect(await one.post("/schedules", { name: "one more", ...YEARLY })).toMatchObject(full);
  await ahead(1000, async (at) => ok(await one.patch(`/schedules/${first.id}`, { at })));
  await settle(async () => ok(await one.get(`/schedules/${first.id}`)).status === "ended");
  await create(one);
  expect(await one.patch(`/schedules/${first.id}`, { cron: "0 0 * * *" })).toMatchObject(full);
});

test.each([
  [{ cron: "0 25 * * *" }, "validation_error", "cron"],
  [{ cron: undefined }, "validation_error", "cron"],
  [{ at: "2126-01-01T00:00:00Z" }, "validation_error", "at"],
  [{ time_zone: "Mars/Base" }, "validation_error", "time_zone"],
  [{ event: { type: "service.run.started" } }, "invalid_event", "event.type"],
  [{ event: { type: "t", id: "mine" } }, "invalid_event", "event.id"],
  [{ event: { type: "t", source: "no uri" } }, "invalid_event", "event.source"],
  [{ event: { type: "t", Not: 1 } }, "invalid_event", "event.Not"],
  [{ event: {} }, "validation_failed", "event.type"],
  [{ on_missed: "all" }, "validation_failed", "on_missed"],
])("what is wrong is said %j", async (more, code, field) => {
  const answer = await orgAdmin.post("/schedules", { name: "wrong", ...YEARLY, ...more });
  expect(answer).toMatchObject(refusal(400, code, { field }));
});

test("what is wrong is said a test shows the next ticks, and saves nothing", async () => {
  const { total } = ok(await orgAdmin.get("/schedules"));
  const nightly = { cron: "30 2 * * *", time_zone: "Europe/Berlin" };
  const { next } = ok(await orgAdmin.post("/schedules:test", nightly));
  expect(next).toHaveLength(5);
  await refused(orgAdmin.post("/schedules:test", { cron: "often" }), "validation_error", "cron");
  expect(ok(await orgAdmin.get("/schedules")).total).toBe(total);
});

test("what is wrong is said an event that is too large", async () => {
  const event = { type: "t", data: "x".repeat(1_048_576) };
  const answer = await orgAdmin.post("/schedules", { name: "large", ...YEARLY, event });
  await refused(answer, "payload_too_large", { max_size: 1_048_576 });
});
