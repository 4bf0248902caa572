import type { Static } from "typebox";
import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";
import {
  CONNECTOR_KINDS,
  type ConnectorMapping,
  type ConnectorState,
  type ConnectorView,
} from "./connectors.contract.ts";

export function sealedAt(connector_id: string): string {
  return `connectors/${connector_id}/url`;
}

/** Messages since the connector was created. */
export type Counts = Static<typeof ConnectorView>["counts"];

/** The outcome for a message: durable as an event or a dead letter, or neither. */
export type Verdict = "accepted" | "duplicate" | "differs" | "mapping_error" | "again";

/** A broker as a source of messages (spec: Events 3). */
export interface ConnectorDoc extends DocumentOf<typeof connectors> {}

const connectors = tenantSchema({
  name: t.string(),
  kind: t.oneOf(CONNECTOR_KINDS),
  /** With its credentials. */
  sealed_url: t.sealed(sealedAt),
  /** Without its credentials. */
  shown_url: t.string(),
  /** The queue or address. */
  from: t.string(),
  source: t.string(),
  mapping: t.mixed<ConnectorMapping>(),
  prefetch: t.number(),
  paused: t.boolean(),
  counts: t.mixed<Counts>(),
  /** Offset of the last durable message of a stream. */
  offset: t.nullable(t.number()),
  created_at: t.date(),
  updated_at: t.date(),
});
connectors.index({ tenant_id: 1, created_at: 1, _id: 1 });
connectors.index({ paused: 1 });

/** A node's report on a connector that it runs; `_id` combines the connector's id and the node's. */
export interface ConnectorNodeDoc extends DocumentOf<typeof nodes> {}

const nodes = tenantSchema({
  connector_id: t.string(),
  state: t.string<ConnectorState>(),
  last_error: t.nullable(t.text()),
  last_error_at: t.nullable(t.date()),
  lag: t.nullable(t.number()),
  seen_at: t.date(),
});
nodes.index({ tenant_id: 1, connector_id: 1 });

export const ConnectorModel: Model<ConnectorDoc> = {
  erasure: { none: "configuration of the organisation" },
  move: { stage: 0, withoutSecrets: { paused: true } },
  name: "connectors",
  ids: "con",
  schema: connectors,
};
export const ConnectorNodeModel: Model<ConnectorNodeDoc> = {
  erasure: { replaced: { of: [] } },
  move: { none: "states of connections of the installation's nodes" },
  name: "connector_nodes",
  schema: nodes,
};
