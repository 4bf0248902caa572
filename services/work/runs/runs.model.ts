import type { InferSchemaType } from "mongoose";
import {
  array,
  date,
  type Model,
  mixed,
  nullable,
  number,
  optional,
  string,
  tenantSchema,
} from "../../../storage/model.ts";
import type { TemplateStep } from "../templates/templates.contract.ts";
import type { OfferStatus } from "./offers.contract.ts";
import type { AmbiguityNote, Outcome, RunStatus, StepStatus } from "./shapes.contract.ts";

export interface Actor {
  actor_kind: "agent" | "user";
  actor_id: string;
}

/** What a step of a run is. Never changed, but for whose it is. */
export interface StepDef extends TemplateStep {
  id: string;
  assigned_user_id: string | null;
}

interface Completion extends Actor {
  /** Rises with every completion of the run: the order of its history. */
  order: number;
  record_id: string;
  at: Date;
  handoff_offer_id: string | null;
}

/** How far a step is. */
export interface StepProgress {
  status: StepStatus;
  /** When it last became ready. */
  ready_at: Date | null;
  in_progress_since: Date | null;
  last_activity_at: Date | null;
  /** In progress so far, without what goes on now. */
  active_ms: number;
  /** From ready to done in the times before it was reopened. */
  elapsed_ms?: number;
  attested: string[];
  completion: Completion | null;
  skipped_at: Date | null;
  /** Since when it was stale when that was last told of. */
  stale_told: Date | null;
  /** Whose it is since it was given to another person than at first. */
  assigned_user_id?: string | null;
}

export interface Offer {
  id: string;
  step_key: string;
  handoff_id: string | null;
  note: string | null;
  status: OfferStatus;
  offered_by: Actor;
  decided_by: Actor | null;
  created_at: Date;
  decided_at: Date | null;
}

const FACTS = [
  "created",
  "step_ready",
  "step_started",
  "criterion_attested",
  "step_completed",
  "step_skipped",
  "step_reopened",
  "step_assigned",
  "step_blocked",
  "step_stale",
  "handoff_offered",
  "handoff_accepted",
  "handoff_declined",
  "completed",
  "reactivated",
  "closed",
] as const;
export type FactKind = (typeof FACTS)[number];

/** What happened in a run. Facts are written with the transition they tell of, and kept in a collection of their own. */
export interface Fact {
  kind: FactKind;
  at: Date;
  step_key: string | null;
  /** Null for what the service found out by itself. */
  actor: Actor | null;
  /** How the run was after the transition; facts of older versions have none. */
  run_status?: RunStatus;
  outcome?: Outcome;
  /** Id of the attempt, completion, skip or reopening, where others refer to it. */
  record_id?: string;
  notes?: string | null;
  inbound_handoff_id?: string | null;
  bundle_id?: string | null;
  criterion_key?: string;
  assigned_user_id?: string | null;
  handoff_offer_id?: string | null;
  /** What artifacts held, kept as evidence. */
  snapshots?: Snapshot[];
}

export interface Snapshot {
  artifact_id: string;
  hash: string;
  size: number;
  mime_type: string;
}

/** Facts that are not in their own collection yet nor published, under the version of the run that they came with. */
export type Outbox = Record<string, Fact[]>;

/** A fact with the run's version that it came with. */
export interface PlacedFact extends Fact {
  version: number;
}

/** A run as it is stored, but for its steps: see `plan`. */
export interface RunDoc extends InferSchemaType<typeof runs> {}

const runs = tenantSchema({
  goal: string(),
  project_id: nullable(string()),
  status: string<RunStatus>(),
  initiated_by: mixed<{ id: string; display_name: string }>(),
  template_id: nullable(string()),
  /** The steps as JSON text: what never changes is long, and no transition is to copy it. */
  plan: string(),
  /** One for each step, in the same order. */
  progress: mixed<StepProgress[]>(),
  offers: mixed<Offer[]>(),
  success_criteria: array(string()),
  ambiguity_score: nullable(number()),
  ambiguity_notes: mixed<AmbiguityNote[]>(),
  exemplar_ids: array(string()),
  pointer_ids: array(string()),
  outcome: nullable(string<Outcome>()),
  closed_by_user_id: nullable(string()),
  close_note: nullable(string()),
  closed_at: nullable(date()),
  /** Guards every transition. */
  version: number(),
  /** Bytes of what was told of it (see `Draft`); absent in runs that are older than this. */
  noted: optional(number()),
  outbox: mixed<Outbox>(),
  /** Set while the outbox holds something. */
  relay_at: optional(date()),
  /** When to look for stale steps: not later than the next becomes so. */
  stale_check_at: optional(date()),
  created_at: date(),
  updated_at: date(),
});
runs.index({ tenant_id: 1, created_at: -1, _id: -1 });
runs.index({ tenant_id: 1, status: 1, created_at: -1, _id: -1 });
runs.index({ tenant_id: 1, project_id: 1, created_at: -1, _id: -1 });
runs.index({ tenant_id: 1, exemplar_ids: 1 });
runs.index({ tenant_id: 1, pointer_ids: 1 });
// What the loops look for, of all tenants. Transitions are guarded by the version, and change both in any case: beside
// an indexed field the embedded store need not read the document for it.
runs.index({ relay_at: 1, version: 1 });
runs.index({ stale_check_at: 1 });

export const RunModel: Model<RunDoc> = { name: "runs", schema: runs, apart: "plan" };

/** A run with its steps, as everything but the store knows it. */
export interface Run extends RunDoc {
  steps: StepDef[];
}

/** The facts of one transition, once they have left the run. `_id` derives from run and version. */
export interface RunFactsDoc extends InferSchemaType<typeof facts> {}

const facts = tenantSchema({
  run_id: string(),
  version: number(),
  facts: mixed<Fact[]>(),
});
facts.index({ tenant_id: 1, run_id: 1, version: 1 });

export const RunFactsModel: Model<RunFactsDoc> = { name: "run_facts", schema: facts };

/** What a run brought forth, and what it held when its step was completed. */
export interface RunArtifactDoc extends InferSchemaType<typeof artifacts> {}

const artifacts = tenantSchema({
  run_id: string(),
  step_record_id: nullable(string()),
  kind: string(),
  pointer: mixed<Record<string, string | null>>(),
  content_hash: nullable(string()),
  byte_size: nullable(number()),
  mime_type: nullable(string()),
  snapshotted_at: nullable(date()),
  created_at: date(),
  updated_at: date(),
});
artifacts.index({ tenant_id: 1, run_id: 1, created_at: 1, _id: 1 });
artifacts.index({ tenant_id: 1, content_hash: 1 });

export const RunArtifactModel: Model<RunArtifactDoc> = { name: "run_artifacts", schema: artifacts };
