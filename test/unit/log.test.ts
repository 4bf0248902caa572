import { describe, expect, test } from "@jest/globals";
import { readConfig } from "../../config.ts";
import { createLog, identity, moleculerLogger, newRepetitions } from "../../observability/log.ts";
import { exposition } from "../../observability/metrics.ts";

const API_KEY = `ak_live_${"Ab1".repeat(10)}Zz`;
const JWT = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhZ18xIn0.c2lnbmF0dXJl-_x";
const OPERATOR = 'the operator"s\\token, which is long enough';

/** As Moleculer calls a logger. */
type Told = (message: string, why: Error | string) => void;

function recorded(env: Record<string, string> = {}) {
  const lines: string[] = [];
  const log = createLog(readConfig({ OPERATOR_TOKEN: OPERATOR, ...env }), {
    write: (line) => lines.push(line),
  });
  return {
    ...{ log, text: () => lines.join(""), last: () => JSON.parse(lines.at(-1) as string) },
    count: () => lines.length,
  };
}

describe("secrets", () => {
  test.each<[string, object, string]>([
    ["a field named password", { password: "hunter22" }, "hunter22"],
    ["a field deep in an object", { body: { user: { password: "hunter22" } } }, "hunter22"],
    ["a header", { headers: { authorization: "Basic dTpw" } }, "dTpw"],
    ["an API key in any field", { note: `got ${API_KEY}` }, API_KEY],
    ["a token in an error", { err: new Error(`bad token ${JWT}`) }, JWT],
    ["a bearer token of another kind", { note: "sent Bearer abc.def" }, "abc.def"],
    ["a signing secret", { note: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" }, "MfKQ9r8G"],
    ["the password of a URL", { note: "mongodb://bob:s3cret@db/sensorium" }, "s3cret"],
    ["a secret of the configuration", { note: `the ${OPERATOR}!` }, JSON.stringify(OPERATOR).slice(1, -1)],
  ])("are taken out of %s", (_what, fields, secret) => {
    const { log, text, count } = recorded();
    log.info(fields, "something happened");
    expect(count()).toBe(1);
    expect(text()).not.toContain(secret);
    expect(text()).toContain("[secret]");
  });

  test("leave the rest of the line alone, which stays JSON", () => {
    const { log, last } = recorded();
    log.warn({ tenant_id: "tn_1", note: `key ${API_KEY} of ag_1` }, "refused");
    expect(last()).toMatchObject({
      ...{ level: "warn", tenant_id: "tn_1", note: "key [secret] of ag_1", msg: "refused" },
    });
  });
});

test("an error given after its message is logged with its stack, as Moleculer gives it", () => {
  const { log, last } = recorded();
  (log.error as Told)("it failed", new TypeError("no such thing"));
  expect(last()).toMatchObject({ msg: "it failed", err: { type: "TypeError", message: "no such thing" } });
  expect(last().err.stack).toContain("log.test");
});

test("a reason given after its message is logged behind it", () => {
  const { log, last } = recorded();
  (log.warn as Told)("Connection is failed.", "refused");
  expect(last().msg).toBe("Connection is failed. refused");
});

test("a reason that its message has a place for is logged there", () => {
  const { log, last } = recorded();
  (log.warn as Told)("no %s there", "server");
  expect(last().msg).toBe("no server there");
});

test("every line names its node and instance once", () => {
  const { log, last, text } = recorded();
  for (const each of [log, moleculerLogger(log).createLogger("info", { mod: "events" })]) {
    each.warn({ tenant_id: "tn_1" }, "something");
    expect(last()).toMatchObject(identity);
  }
  expect(text().match(/"node":/g)).toHaveLength(2);
});

describe("repeated lines", () => {
  test("of a kind are limited, and their number is in the next one", () => {
    let now = 0;
    const admit = newRepetitions(() => now);
    const admitted = Array.from({ length: 100 }, (_, i) => admit(`warn node-${i} is late by ${i} ms`));
    expect(admitted.filter((suppressed) => suppressed !== null)).toEqual([0, 0, 0]);
    expect(admit("warn another thing")).toBe(0);
    now += 21_000;
    expect(admit("warn node-7 is late by 3 ms")).toBe(97);
    expect(admit("warn node-7 is late by 3 ms")).toBeNull();
  });

  test("are told apart by error, route and outcome, not by ids", () => {
    const { log, count, last } = recorded();
    const lines = () => {
      const before = count();
      return (write: () => void) => {
        for (let i = 0; i < 10; i++) write();
        return count() - before;
      };
    };
    const kinds: (() => void)[] = [
      () => log.warn("plain"),
      () => log.error("plain"),
      () => log.error({ err: new Error("one"), request_id: `req_${count()}` }, "request failed"),
      () => log.error({ err: new Error("other") }, "request failed"),
      () => log.error(new TypeError("bare")),
      () => log.error({ route: "/events", status: 503 }, "request"),
      () => log.error({ route: "/events", status: 500 }, "request"),
      () => log.error({ route: "/agents", status: 500 }, "request"),
      () => (log.warn as Told)("Unable to send", new Error(`refused ${count()}`)),
    ];
    expect(kinds.map((write) => lines()(write))).toEqual(kinds.map(() => 3));
    expect(last()).toMatchObject({
      msg: "Unable to send",
      err: { message: expect.stringMatching(/^refused/) },
    });
    expect(lines()(() => log.info("news"))).toBe(10);
    expect(lines()(() => log.fatal("the end"))).toBe(10);
  });

  test("are counted", async () => {
    const { log } = recorded();
    const counted = async () =>
      Number(
        /^sensorium_log_lines_suppressed_total\{level="warn"\} (\d+)$/m.exec(await exposition())?.[1] ?? 0,
      );
    const before = await counted();
    for (let i = 0; i < 8; i++) log.warn("again");
    expect((await counted()) - before).toBe(5);
  });
});

describe("Moleculer's loggers", () => {
  const broker = (log: ReturnType<typeof createLog>) => {
    const { level, createLogger } = moleculerLogger(log);
    return createLogger(level, { mod: "broker" });
  };

  test("tell no news at info, and say where a warning is from", () => {
    const { log, last, count } = recorded();
    broker(log).info("Moleculer is starting");
    broker(log).warn("slow");
    expect(count()).toBe(1);
    expect(last()).toMatchObject({ service: "broker", msg: "slow" });
  });

  test("tell their news at debug", () => {
    const { log, count } = recorded({ LOG_LEVEL: "debug" });
    broker(log).info("Moleculer is starting");
    expect(count()).toBe(1);
  });

  test("leave a failed start to main, which tells it once", () => {
    const { log, count } = recorded();
    (broker(log).error as Told)("Unable to start all services.", new Error("port in use"));
    expect(count()).toBe(0);
    (broker(log).error as Told)("Unable to stop all services.", new Error("stuck"));
    expect(count()).toBe(1);
  });
});
