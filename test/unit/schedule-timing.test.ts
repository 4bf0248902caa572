import { describe, expect, test } from "@jest/globals";
import { isFault } from "../../lib/contract/faults.ts";
import { readAllSettings } from "../../services/extensions.ts";
import { ScheduleModel } from "../../services/sense/schedules/schedules.model.ts";
import { Schedules } from "../../services/sense/schedules/schedules.service.ts";
import {
  inWords,
  MOST_MADE_UP,
  planTicks,
  readTiming,
  tickAfter,
  ticksAfter,
} from "../../services/sense/schedules/timing.ts";
import { ownStore } from "../support/own-store.ts";

const at = (text: string) => new Date(text);
const ms = (text: string) => at(text).getTime();
const cron = (expression: string, time_zone = "UTC") => ({ cron: expression, time_zone });
const texts = (dates: Date[]) => dates.map((date) => date.toISOString().slice(0, 16));

/** The ticks of an expression between two times. */
function ticksOf(expression: string, time_zone: string, from: string, to: string): string[] {
  const found: Date[] = [];
  let time = ms(from);
  for (;;) {
    const next = tickAfter(cron(expression, time_zone), time);
    if (!next || next > at(to)) return texts(found);
    found.push(next);
    time = next.getTime();
  }
}

test.each([
  ["0 9 * * MON-FRI", "At 09:00, Monday through Friday"],
  ["*/15 9-17 * * 1-5", "Every 15 minutes, between 09:00 and 17:59, Monday through Friday"],
  ["0 9 L * ?", "At 09:00, on the last day of the month"],
  ["@hourly", "Every hour"],
  ["0 9 13 * FRI", "0 9 13 * FRI"],
  ["0 9 * * +FRI", "0 9 * * +FRI"],
])("%s in words", (expression, words) =>
  expect(inWords(cron(expression, "Europe/Berlin"))).toBe(`${words}, Europe/Berlin`),
);

describe("daylight saving", () => {
  test("a local time that is skipped is due when the clocks change, once", () => {
    const days = ["2026-03-27T12:00Z", "2026-03-30T12:00Z"] as const;
    expect(ticksOf("30 2 * * *", "Europe/Berlin", ...days)).toEqual([
      ...["2026-03-28T01:30", "2026-03-29T01:00", "2026-03-30T00:30"],
    ]);
    expect(ticksOf("0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00Z", "2018-11-05T12:00Z")).toEqual([
      "2018-11-04T03:00",
      "2018-11-05T02:00",
    ]);
  });

  test("a local time that is repeated is due once", () => {
    expect(ticksOf("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00Z", "2026-10-26T12:00Z")).toEqual([
      "2026-10-25T00:30",
      "2026-10-26T01:30",
    ]);
    expect(ticksOf("30 1 * * *", "America/New_York", "2026-10-31T12:00Z", "2026-11-02T12:00Z")).toEqual([
      "2026-11-01T05:30",
      "2026-11-02T06:30",
    ]);
  });

  test("every half hour stays every half hour on both days", () => {
    const halfHours = (from: string) =>
      ticksOf(
        "*/30 * * * *",
        "Europe/Berlin",
        `${from}T23:00Z`,
        new Date(ms(`${from}T23:00Z`) + 5 * 3_600_000).toISOString(),
      );
    for (const day of ["2026-03-28", "2026-10-24"]) {
      const ticks = halfHours(day).map((tick) => ms(`${tick}Z`));
      expect(ticks).toHaveLength(10);
      for (const [i, tick] of ticks.entries()) if (i) expect(tick - (ticks[i - 1] as number)).toBe(1_800_000);
    }
  });

  test("office hours follow the local clock", () => {
    const mondays = ticksOf("0 9 * * MON", "Europe/Berlin", "2026-03-20T00:00Z", "2026-04-01T00:00Z");
    expect(mondays).toEqual(["2026-03-23T08:00", "2026-03-30T07:00"]);
  });
});

test.each([
  ["0 9 14 * FRI", ["2026-02-06", "2026-02-13", "2026-02-14", "2026-02-20", "2026-02-27"]],
  ["0 9 13 * +FRI", ["2026-02-13", "2026-03-13", "2026-11-13", "2027-08-13", "2028-10-13"]],
  ["0 9 1,2 * 0", ["2026-02-01", "2026-02-02", "2026-02-08", "2026-02-15", "2026-02-22"]],
  ["0 9 */10 * MON", ["2026-02-01", "2026-02-02", "2026-02-09", "2026-02-11", "2026-02-16"]],
  ["0 9 13 * *", ["2026-02-13", "2026-03-13", "2026-04-13", "2026-05-13", "2026-06-13"]],
  ["0 9 * * FRI-SUN,MON", ["2026-02-01", "2026-02-02", "2026-02-06", "2026-02-07", "2026-02-08"]],
])("day of month or day of week is enough: %s", (expression, days) =>
  expect(
    texts(ticksAfter(cron(expression), ms("2026-02-01T00:00Z"))).map((tick) => tick.slice(0, 10)),
  ).toEqual(days),
);

describe("what is due", () => {
  const hourly = cron("0 * * * *");
  const first = at("2026-01-31T09:00Z");

  test("a tick on time is published, whatever the policy", () => {
    for (const policy of ["skip", "run_once", "run_all"] as const)
      expect(planTicks(hourly, first, ms("2026-01-31T09:00:59.900Z"), policy)).toEqual({
        ...{ publish: [first], missed: null, next: at("2026-01-31T10:00Z") },
      });
  });

  test("missed ticks are skipped, the latest is published, or all are", () => {
    const now = ms("2026-01-31T12:30Z");
    const next = at("2026-01-31T13:00Z");
    const latest = at("2026-01-31T12:00Z");
    expect(planTicks(hourly, first, now, "skip")).toEqual({ publish: [], missed: latest, next });
    const once = planTicks(hourly, first, now, "run_once");
    expect(once).toEqual({ publish: [latest], missed: at("2026-01-31T11:00Z"), next });
    const all = planTicks(hourly, first, now, "run_all");
    expect(texts(all.publish)).toEqual(
      [9, 10, 11, 12].map((h) => `2026-01-31T${String(h).padStart(2, "0")}:00`),
    );
    expect(all.missed).toBeNull();
  });

  test("a tick on time is published by skip, too, when earlier ones were missed", () => {
    const plan = planTicks(hourly, first, ms("2026-01-31T11:00:00Z"), "skip");
    expect(plan).toMatchObject({ publish: [at("2026-01-31T11:00Z")], missed: at("2026-01-31T10:00Z") });
  });

  test("of very many only the latest are made up for, oldest first", () => {
    const plan = planTicks(cron("* * * * *"), first, ms("2026-01-31T20:00:30Z"), "run_all");
    expect(plan.publish).toHaveLength(MOST_MADE_UP);
    expect(plan.publish.at(-1)).toEqual(at("2026-01-31T20:00Z"));
    expect(plan.publish[0]).toEqual(at("2026-01-31T18:21Z"));
    expect(plan.missed).toEqual(at("2026-01-31T18:20Z"));
  });

  test("the only time is published late, or skipped", () => {
    const late = ms("2026-01-31T12:30Z");
    expect(planTicks({ at: first }, first, late, "run_all")).toEqual({
      ...{ publish: [first], missed: null, next: null },
    });
    expect(planTicks({ at: first }, first, late, "skip")).toEqual({ publish: [], missed: first, next: null });
  });

  test("ticks in the repeated hour are all made up for", () => {
    const from = at("2026-10-25T00:00Z");
    const plan = planTicks(
      cron("*/30 * * * *", "Europe/Berlin"),
      from,
      ms("2026-10-25T02:00:10Z"),
      "run_all",
    );
    expect(texts(plan.publish)).toEqual(
      [0, 0.5, 1, 1.5, 2].map((h) => new Date(from.getTime() + h * 3_600_000).toISOString().slice(0, 16)),
    );
  });
});

describe("reading", () => {
  const now = ms("2026-01-31T12:00Z");
  const given = { cron: null as string | null, time_zone: "UTC", at: null as Date | null };
  const refused = (more: Partial<typeof given>) => {
    try {
      readTiming({ ...given, ...more }, now);
      return null;
    } catch (err) {
      return isFault(err) ? { field: err.data.field, message: err.message } : err;
    }
  };

  test.each<[Partial<typeof given>, string, string]>([
    [{}, "cron", "Neither"],
    [{ cron: "* * * * *", at: at("2027-01-01") }, "at", "Both"],
    [{ at: at("2026-01-31T12:00Z") }, "at", "in the future"],
    [{ cron: "61 * * * *" }, "cron", "61"],
    [{ cron: "* * * *" }, "cron", "five"],
    [{ cron: "* * * * * *" }, "cron", "got 6"],
    [{ cron: "0 0 30 2 *" }, "cron", "never"],
    [{ cron: "@reboot" }, "cron", "five"],
    [{ cron: "0 9 * * FRI-MON" }, "cron", "FRI-MON ends before it begins: write FRI-SUN,MON."],
    [{ cron: "0 9 * * sat-tue" }, "cron", "write SAT-SUN,MON-TUE."],
    [{ cron: "0 9 * * 5-0" }, "cron", "write 5-7."],
    [{ cron: "0 9 * * 7-2" }, "cron", "write 7,1-2."],
    [{ cron: "0 22-4 * * *" }, "cron", "write 22-23,0-4."],
    [{ cron: "5,50-10 * * * *" }, "cron", "write 50-59,0-10."],
    [{ cron: "0 21-3/2 * * *" }, "cron", "write 21,23,1,3."],
    [{ cron: "0 0 28-2 NOV-JAN *" }, "cron", "write 28-31,1-2."],
    [{ cron: "0 0 1 NOV-JAN *" }, "cron", "write NOV-DEC,JAN."],
    [{ cron: "0 99-4 * * *" }, "cron", "larger"],
    [{ cron: "0 9 * * *", time_zone: "Nowhere/City" }, "time_zone", "IANA"],
    [{ cron: "0 9 * * *", time_zone: "+02:00" }, "time_zone", "IANA"],
  ])("%j is refused", (more, field, part) =>
    expect(refused(more)).toMatchObject({ field, message: expect.stringContaining(part) }),
  );

  test("the next ticks are shown", () => {
    expect(texts(ticksAfter(cron("@monthly"), now))).toEqual(
      [2, 3, 4, 5, 6].map((m) => `2026-0${m}-01T00:00`),
    );
    expect(ticksAfter({ at: at("2027-01-01") }, now)).toEqual([at("2027-01-01")]);
  });
});

test("a schedule whose answer was lost is the same when it is asked for again, also after its time", async () => {
  const store = await ownStore();
  const began = Date.now();
  let now = began;
  const runtime = { config: readAllSettings({}), store: { ...store, now: () => now } };
  const schedules = new Schedules(runtime, store.collection(ScheduleModel), { expect() {} } as never);
  const caller = { kind: "agent", tenant_id: "tn_one", agent_id: "ag_one", scopes: ["send"] };
  const create = (more: object) => {
    const params = {
      name: "once",
      at: new Date(began + 1000).toISOString(),
      event: { type: "com.example.due" },
    };
    return schedules.create({ params, meta: { caller, idempotency_seed: "seed", ...more } } as never);
  };
  const first = await create({ first_at: began });
  now += 5000;
  expect(await create({ first_at: began })).toEqual(first);
  await expect(create({})).rejects.toThrow("expected a time in the future");
});
