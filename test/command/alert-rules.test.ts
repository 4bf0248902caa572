/** @needs prometheus: each alert fires on series of its fault, and not on those of a usual hour. */
import { describe, expect, test } from "@jest/globals";
import { alerts } from "../../docs/generate/monitoring/alerts.ts";
import { onPath } from "../support/needs.ts";
import { firingOn } from "../support/prometheus.ts";

/** Values of each minute by series, in promtool's notation: `0+5x90` rises by 5 for 90 minutes. */
type Hours = Record<string, string>;

const request = (status: string) => `sensorium_http_request_duration_seconds_count{status="${status}"}`;
const within = (le: string) => `sensorium_http_request_duration_seconds_bucket{le="${le}"}`;
const command = (rest: string) => `sensorium_record_command_duration_seconds${rest}`;
const pending = 'sensorium_deliveries_pending{state="ready"}';
const oldest = 'sensorium_deliveries_oldest_seconds{state="ready"}';
const ready = 'sensorium_ready{instance="a"}';
const other = 'sensorium_ready{instance="b"}';

type Case = { fires: Hours[]; quiet: Hours[] };
/** A case of one series. */
function on(series: string, fires: string[], quiet: string[]): Case {
  const hours = (values: string) => ({ [series]: values });
  return { fires: fires.map(hours), quiet: quiet.map(hours) };
}
const build = (labels: string) => `sensorium_build_info{${labels}}`;
/** Requests that took at most 1 s, 5 s and any time, all answered 2xx. */
const took = (one: string, five: string, any: string) => ({
  ...{ [within("1")]: one, [within("5")]: five, [within("+Inf")]: any, [request("2xx")]: any },
});
const polls = (series: string) => series.replace("{", '{operation="deliveries.poll",');
const commands = (half: string) => ({
  ...{ [command('_bucket{le="0.5"}')]: half, [command('_bucket{le="1"}')]: "0+100x180" },
  [command('_bucket{le="+Inf"}')]: "0+100x180",
});

/** For each alert: what fires it, and what is nearly that and does not. */
const CASES: Record<string, Case> = {
  SensoriumDown: {
    fires: [{ [ready]: "1x30 0x150", [other]: "0x180" }, { up: "0x180" }],
    quiet: [{ [ready]: "0x180", [other]: "1x180" }],
  },
  SensoriumNodeDown: {
    fires: [{ 'up{job="sensorium",instance="a"}': "1x30 0x150" }],
    quiet: [{ 'up{job="other"}': "0x180" }, { 'up{job="sensorium"}': "1x170 0x1 1x9" }],
  },
  SensoriumNodeNotReady: {
    fires: [{ [ready]: "1x30 0x150", [other]: "1x180" }],
    quiet: [{ [ready]: "1x177 0x3" }],
  },
  SensoriumPeersLost: {
    fires: [{ 'sensorium_peers{state="lost"}': "0x30 1x150" }],
    quiet: [{ 'sensorium_peers{state="lost"}': "0x177 1x3", 'sensorium_peers{state="available"}': "2x180" }],
  },
  SensoriumServicesMissing: on("sensorium_services_missing", ["0x30 1x150"], ["0x180", "0x175 1x5"]),
  SensoriumVersionsDiffer: {
    fires: [{ [build('version="1"')]: "1x180", [build('version="2"')]: "1x180" }],
    quiet: [
      { [build('version="1",instance="a"')]: "1x180", [build('version="1"')]: "1x180" },
      { [build('version="1"')]: "1x180", [build('version="2"')]: "_x100 1x80" },
    ],
  },
  SensoriumRequestsFailing: {
    fires: [{ [request("2xx")]: "0+100x180", [request("5xx")]: "0+10x180" }],
    quiet: [
      { [request("2xx")]: "0+1x180", [request("5xx")]: "0+1x180" },
      { [request("2xx")]: "0+1000x180", [request("5xx")]: "0+10x180" },
    ],
  },
  SensoriumRequestsSlow: {
    fires: [took("0+50x180", "0+100x180", "0+100x180")],
    quiet: [
      {
        ...{ [polls(within("1"))]: "0x180", [polls(within("+Inf"))]: "0+900x180" },
        [polls(request("2xx"))]: "0+900x180",
      },
      ...[took("0+99x180", "0+100x180", "0+100x180"), took("0+1x180", "0+2x180", "0+2x180")],
    ],
  },
  SensoriumNatsDisconnected: on("sensorium_nats_connected", ["1x30 0x150"], ["1x180"]),
  SensoriumMongoUnavailable: {
    fires: [{ [command('_count{outcome="ok"}')]: "0+30x60 1800x120" }],
    quiet: [
      { [command('_count{outcome="ok"}')]: "0+30x180", [command('_count{outcome="error"}')]: "0+5x180" },
    ],
  },
  SensoriumMongoSlow: { fires: [commands("0+50x180")], quiet: [commands("0+100x180")] },
  SensoriumClockUncertain: on("sensorium_clock_error_seconds", ["0.2x180"], ["0.05x180"]),
  SensoriumDiskNearlyFull: {
    fires: [{ sensorium_disk_free_bytes: "150x180", sensorium_disk_min_free_bytes: "100x180" }],
    quiet: [{ sensorium_disk_free_bytes: "250x180", sensorium_disk_min_free_bytes: "100x180" }],
  },
  SensoriumSearchIndexBehind: on("sensorium_search_index_behind", ["0x30 1x150"], ["0x180", "0x170 1x1 0x9"]),
  SensoriumFanOutBehind: on("sensorium_fan_out_spilled_tenants", ["1x180"], ["0x180", "0x175 1x5"]),
  SensoriumEventsParked: on("sensorium_events_parked_total", ["0x170 1x10"], ["3x180"]),
  // Also one in two minutes, but not one in half an hour.
  SensoriumDeliveriesDeadLettered: on(
    "sensorium_deliveries_dead_lettered_total",
    ["0x170 20x10", "0+0.5x180"],
    ["0x170 1x10", `0+${1 / 30}x1440`],
  ),
  SensoriumDeliveriesDelayed: {
    fires: [
      { [pending]: "1000x160 5000+1000x20" },
      // 20 a minute, after two, four and ten hours.
      { [pending]: "0+20x120" },
      { [pending]: "0+20x240" },
      { [pending]: "0+20x600" },
      { [pending]: "900x1500", [oldest]: "0+60x1500" },
    ],
    quiet: [
      { [pending]: "5000x180" },
      // As many come as go, and an agent that comes each eight hours.
      { [pending]: "5000x60 5200x60 5100x60 5150x60 5000x60", [oldest]: "600x300" },
      { [pending]: "0+2x480 0+2x480 0+2x480", [oldest]: "0+60x480 0+60x480 0+60x480" },
      { [pending]: "20x3000", [oldest]: "0+60x3000" },
    ],
  },
  SensoriumConnectorNotConsuming: {
    fires: [{ 'sensorium_connectors{state="retrying"}': "1x180" }],
    quiet: [
      {
        'sensorium_connectors{state="retrying"}': "0x175 1x5",
        'sensorium_connectors{state="consuming"}': "3x180",
      },
    ],
  },
  SensoriumPushEndpointsUnreachable: on("sensorium_push_breakers_open", ["1x180"], ["0x160 1x20"]),
  SensoriumSchedulesMissed: {
    fires: [{ 'sensorium_schedule_ticks_total{outcome="missed"}': "0x170 1x10" }],
    quiet: [{ 'sensorium_schedule_ticks_total{outcome="published"}': "0+1x180" }],
  },
  SensoriumEmbeddingBehind: on("sensorium_embed_gap", ["2000x180"], ["20000-100x180", "100x180"]),
  SensoriumLimitsNotShared: on("sensorium_limits_shared", ["1x30 0x150"], ["1x180"]),
  SensoriumTracesLost: on("sensorium_trace_spans_lost_total", ["0+5x180"], ["5x180"]),
};

test("each alert has its cases", () =>
  expect(Object.keys(CASES).sort()).toEqual(alerts.map(({ name }) => name).sort()));

(onPath("promtool") ? describe : describe.skip)("alerts", () => {
  test.each(Object.keys(CASES))("%s fires for its fault, and for nothing less", async (name) => {
    const { fires, quiet } = CASES[name] as (typeof CASES)[string];
    for (const hours of fires)
      expect([hours, await firingOn(hours)]).toEqual([hours, expect.arrayContaining([name])]);
    for (const hours of quiet)
      expect([hours, await firingOn(hours)]).toEqual([hours, expect.not.arrayContaining([name])]);
  });
});
