import type { Health } from "./health.ts";
import type { Log } from "./log.ts";
import { metrics, observeValue } from "./metrics.ts";

/**
 * Shows whether this node is connected to NATS: in readiness, in metrics, and in one line of the log when that changes.
 *
 * @returns to be called with each change
 */
export function observeNats({ health, log }: { health: Health; log: Log }): (isConnected: boolean) => void {
  /** When the connection was lost; null while it holds, undefined before there was one. */
  let lostAt: number | null | undefined;
  const away = () => Math.round((performance.now() - (lostAt ?? 0)) / 1000);
  observeValue("nats_connected", "1 while this node is connected to NATS, else 0", () =>
    Number(lostAt === null),
  );
  health.remark("nats", () => {
    if (lostAt === undefined) return "not connected yet";
    return lostAt === null ? null : `not connected for ${away()} s: this node reaches no other`;
  });
  return (isConnected) => {
    if (isConnected) {
      if (lostAt) log.info({ away_seconds: away() }, "NATS is back");
      lostAt = null;
    } else if (lostAt === null) {
      lostAt = performance.now();
      metrics.natsDisconnects.inc();
      log.warn("NATS is lost: this node reaches no other until it is back");
    }
  };
}
