import { Schema } from "mongoose";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";
import type { ConnectorKind, ConnectorMapping, ConnectorState } from "./connectors.contract.ts";

/** Messages since the connector was made. */
export interface Counts {
  received: number;
  accepted: number;
  mapping_errors: number;
}

/** A source of messages at a broker (spec: Events 3). */
export interface ConnectorDoc extends TenantDocument {
  name: string;
  kind: ConnectorKind;
  /** With its credentials, encrypted. */
  sealed_url: string;
  /** Without them. */
  shown_url: string;
  /** The queue or address. */
  from: string;
  source: string;
  mapping: ConnectorMapping;
  prefetch: number;
  paused: boolean;
  counts: Counts;
  created_at: Date;
  updated_at: Date;
}

/** What a node says of a connector it runs; `_id` is the connector's and the node's. */
export interface ConnectorNodeDoc extends TenantDocument {
  connector_id: string;
  state: ConnectorState;
  last_error: string | null;
  last_error_at: Date | null;
  lag: number | null;
  seen_at: Date;
}

const connectors = new Schema<ConnectorDoc>(
  {
    _id: String,
    tenant_id: String,
    name: String,
    kind: String,
    sealed_url: String,
    shown_url: String,
    from: String,
    source: String,
    mapping: Schema.Types.Mixed,
    prefetch: Number,
    paused: Boolean,
    counts: Schema.Types.Mixed,
    created_at: Date,
    updated_at: Date,
  },
  { versionKey: false },
);
connectors.index({ tenant_id: 1, created_at: 1, _id: 1 });
connectors.index({ paused: 1 });

const nodes = new Schema<ConnectorNodeDoc>(
  {
    _id: String,
    tenant_id: String,
    connector_id: String,
    state: String,
    last_error: String,
    last_error_at: Date,
    lag: Number,
    seen_at: Date,
  },
  { versionKey: false },
);
nodes.index({ tenant_id: 1, connector_id: 1 });

export const ConnectorModel: Model<ConnectorDoc> = { name: "connectors", schema: connectors };
export const ConnectorNodeModel: Model<ConnectorNodeDoc> = { name: "connector_nodes", schema: nodes };
