import type { ServiceBroker } from "moleculer";
import { DAY_MS } from "../../../lib/time.ts";
import { Loop } from "../../../mixins/loop.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Runtime } from "../../runtime.ts";
import { AgentSettingsCache } from "./agent-settings.ts";
import { newAnnouncements } from "./announce.ts";
import { newClaims } from "./claim.ts";
import type { DeliveryDoc } from "./deliveries.model.ts";
import type { Ready } from "./enqueue.ts";
import { Receivers } from "./receive.ts";
import { newReplays } from "./replay.ts";
import { newSweeps } from "./sweep.ts";

/** Delay of the fallback check for ended leases. */
const DUE_MS = 250;
const RELAY_MS = 1000;
const RETIRE_MS = 60_000;
const AHEAD_MS = 60_000;

/** State shared by the service's actions. */
export type Parts = ReturnType<typeof newParts>;

export function newParts(
  { store, config, tracing }: Runtime,
  deliveries: TenantCollection<DeliveryDoc>,
  broker: ServiceBroker,
) {
  /** Notifies waiting receivers on every node, and push workers. */
  const announceReady = (ready: Ready[]): void => {
    if (ready.length) broker.broadcast("deliveries.ready", { ready });
  };
  const agents = new AgentSettingsCache(broker, config);
  const shared = { broker, store, deliveries, agents, announceReady, tracing };
  const sweeps = newSweeps(shared);
  const replays = newReplays(shared);
  const keptDays = Math.max(config.EVENT_RETENTION_DAYS, config.DEDUPE_DAYS);
  const report = (err: unknown) => broker.logger.warn("deliveries: a sweep failed and is tried again", err);
  return {
    ...shared,
    receivers: new Receivers(newClaims(shared), () => store.now()),
    replays,
    loops: {
      due: new Loop(sweeps.due, DUE_MS, report),
      replays: new Loop(replays.relay, RELAY_MS, report),
      announcements: new Loop(newAnnouncements(broker, deliveries), RELAY_MS, report),
      ahead: new Loop(sweeps.ahead, AHEAD_MS, report),
      retire: new Loop(sweeps.retire, RETIRE_MS, report),
    },
    now: () => new Date(store.now()),
    /** When a row acknowledged at a time is reduced to a tombstone. */
    retireAt: (at: Date) => new Date(at.getTime() + config.ACKNOWLEDGED_RETENTION_DAYS * DAY_MS),
    /** Unmapped payloads are kept as long as events. */
    unmappedUntil: (at: Date) => new Date(at.getTime() + keptDays * DAY_MS),
  };
}
