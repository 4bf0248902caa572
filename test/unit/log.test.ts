import { describe, expect, test } from "@jest/globals";
import { readConfig } from "../../config.ts";
import { createLog, moleculerLogger } from "../../observability/log.ts";

const API_KEY = `ak_live_${"Ab1".repeat(10)}Zz`;
const JWT = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhZ18xIn0.c2lnbmF0dXJl-_x";
const OPERATOR = 'operator"s\\token';

/** As Moleculer calls a logger. */
type Told = (message: string, why: Error | string) => void;

function recorded(env: Record<string, string> = {}) {
  const lines: string[] = [];
  const log = createLog(readConfig({ OPERATOR_TOKEN: OPERATOR, ...env }), {
    write: (line) => lines.push(line),
  });
  return {
    log,
    text: () => lines.join(""),
    last: () => JSON.parse(lines.at(-1) as string),
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
      level: "warn",
      tenant_id: "tn_1",
      note: "key [secret] of ag_1",
      msg: "refused",
    });
  });
});

test("an error given after its message is logged with its stack, as Moleculer gives it", () => {
  const { log, last } = recorded();
  (log.error as Told)("it failed", new TypeError("no such thing"));
  expect(last()).toMatchObject({ msg: "it failed", err: { type: "TypeError", message: "no such thing" } });
  expect(last().err.stack).toContain("log.test");
});

test("a reason given after its message is logged behind it; one that the message has a place for, there", () => {
  const { log, last } = recorded();
  (log.warn as Told)("Connection is failed.", "refused");
  expect(last().msg).toBe("Connection is failed. refused");
  (log.warn as Told)("no %s there", "server");
  expect(last().msg).toBe("no server there");
});

describe("Moleculer's loggers", () => {
  const broker = (log: ReturnType<typeof createLog>) => {
    const { level, createLogger } = moleculerLogger(log);
    return createLogger(level, { nodeID: "node-1", mod: "broker" });
  };

  test("tell no news at info, and say where a warning is from", () => {
    const { log, last, count } = recorded();
    broker(log).info("Moleculer is starting");
    broker(log).warn("slow");
    expect(count()).toBe(1);
    expect(last()).toMatchObject({ node: "node-1", service: "broker", msg: "slow" });
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
