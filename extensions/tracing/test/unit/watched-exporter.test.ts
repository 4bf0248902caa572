import { expect, test } from "@jest/globals";
import { readConfig } from "../../../../config.ts";
import { createLog } from "../../../../observability/log.ts";
import { WatchedExporter } from "../../otel.ts";

test("a collector that comes and goes is logged once a minute at most, and every lost span is counted", () => {
  const lines: Record<string, unknown>[] = [];
  const log = createLog(readConfig({}), { write: (line) => lines.push(JSON.parse(line)) });
  let code = 0;
  let now = 0;
  const collector = {
    export: (_: unknown, done: (result: { code: number }) => void) => done({ code }),
    shutdown: async () => {},
  };
  const exporter = new WatchedExporter(collector, log, () => now);
  const send = (outcome: "taken" | "refused", spans: number) => {
    code = outcome === "taken" ? 0 : 1;
    exporter.export(new Array(spans), ({ code }) => expect(code).toBe(0));
  };
  send("taken", 1);
  expect(lines).toEqual([]);
  for (let i = 0; i < 10; i++) {
    send("refused", 2);
    send("refused", 1);
    now += 1000;
    send("taken", 5);
  }
  expect(lines).toMatchObject([{ level: "warn" }, { level: "info", lost_spans: 3, away_seconds: 1 }]);
  now += 60_000;
  send("refused", 1);
  send("taken", 1);
  expect(lines).toMatchObject([{}, {}, { level: "warn" }, { level: "info", lost_spans: 28 }]);
});
