import { shownMapping } from "../ingest/mapping.ts";
import type { ConnectorState } from "./connectors.contract.ts";
import type { ConnectorDoc, ConnectorNodeDoc } from "./connectors.model.ts";
import { nothing } from "./consumer.ts";

/** A node without a report for this long is gone: nodes report every 15 s. */
export const FRESH_MS = 45_000;

/** The connector's state is the best state of its nodes. */
const BEST_FIRST: ConnectorState[] = ["consuming", "connecting", "retrying", "failed"];

/** Formats a connector for callers, with its nodes' status. */
export function present(doc: ConnectorDoc, rows: ConnectorNodeDoc[], now: number) {
  const fresh = rows.filter(({ seen_at }) => seen_at.getTime() > now - FRESH_MS);
  const state = BEST_FIRST.find((each) => fresh.some((row) => row.state === each)) ?? "connecting";
  const failed = fresh.filter((row) => row.last_error_at !== null);
  const last = failed.sort((a, b) => Number(b.last_error_at) - Number(a.last_error_at))[0];
  const lags = fresh.flatMap(({ lag }) => lag ?? []);
  const { _id: id, name, kind, from, source, prefetch, paused, counts } = doc;
  return {
    ...{ id, name, kind, url: doc.shown_url },
    queue: kind === "amqp091" ? from : null,
    address: kind === "amqp10" ? from : null,
    ...{ source, mapping: shownMapping(doc.mapping), prefetch, paused },
    state: paused ? "paused" : state,
    last_error: last?.last_error ?? null,
    last_error_at: last?.last_error_at?.toISOString() ?? null,
    // Connectors of earlier versions have fewer.
    counts: { ...nothing(), ...counts },
    lag: !paused && lags.length ? Math.max(...lags) : null,
    created_at: doc.created_at.toISOString(),
    updated_at: doc.updated_at.toISOString(),
  };
}
