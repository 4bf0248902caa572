import type { Static, TObject } from "typebox";
import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";
import type { TemplateStep } from "../templates/templates.contract.ts";
import type { ACTIONS } from "./runs.contract.ts";
import * as shapes from "./shapes.contract.ts";

export type Actor = Doer & { actor_kind: "agent" | "user" };

/** The definition of a run's step. Never changes, except for its assignee. */
export interface StepDef extends TemplateStep {
  id: string;
  assigned_user_id: string | null;
}

/** The author of a change in a run: an event completes a step that waited for it, a deadline skips its step or closes the run. */
export type Doer = Static<TObject<typeof shapes.actorFields>>;

interface Completion extends Doer {
  /** Rises with every completion of the run: orders its history. */
  order: number;
  record_id: string;
  at: Date;
  handoff_offer_id: string | null;
}

export interface StepProgress {
  status: shapes.StepStatus;
  /** When it last became ready. */
  ready_at: Date | null;
  in_progress_since: Date | null;
  last_activity_at: Date | null;
  /** Completed time in progress, without the current period. */
  active_ms: number;
  /** Time from ready to done before it was reopened. */
  elapsed_ms?: number;
  attested: string[];
  completion: Completion | null;
  skipped_at: Date | null;
  /** Set while the step waits for an event: the id of the wait, and when it began. */
  waiting?: { id: string; since: Date } | null;
  /** Start of the staleness that was last reported. */
  stale_told: Date | null;
  /** When it became ready for the deadline that has passed. */
  deadline_of?: Date | null;
  /** The current assignee, once it differs from the first. */
  assigned_user_id?: string | null;
}

export interface Offer {
  id: string;
  step_key: string;
  handoff_id: string | null;
  note: string | null;
  status: shapes.OfferStatus;
  offered_by: Actor;
  decided_by: Actor | null;
  created_at: Date;
  decided_at: Date | null;
}

/** An action, or what follows from one or from time. */
export type FactKind =
  | (typeof ACTIONS)[number]
  | ("step_ready" | "step_waiting" | "step_blocked" | "step_stale" | "completed" | "reactivated");

/** An event in a run. Facts are written with their transition, and then moved to a separate collection. */
export interface Fact {
  kind: FactKind;
  at: Date;
  step_key: string | null;
  /** Null for facts that the service detected itself. */
  actor: Doer | null;
  /** Status of the run after the transition; absent in facts of older versions. */
  run_status?: shapes.RunStatus;
  outcome?: shapes.Outcome;
  /** Id of the attempt, completion, skip or reopening, for references. */
  record_id?: string;
  notes?: string | null;
  inbound_handoff_id?: string | null;
  bundle_id?: string | null;
  criterion_key?: string;
  /** Criteria that a completion without a key attested. */
  attested?: string[];
  assigned_user_id?: string | null;
  handoff_offer_id?: string | null;
  event?: shapes.StepEvent;
  /** Content of artifacts, kept as evidence. */
  snapshots?: Snapshot[];
}

export interface Snapshot {
  artifact_id: string;
  hash: string;
  size: number;
  mime_type: string;
}

/** Unrelayed facts, keyed by the run's version that they came with. */
export type Outbox = Record<string, Fact[]>;

/** A fact with the run's version that it came with. */
export interface PlacedFact extends Fact {
  version: number;
}

/** Names of the texts of steps; the others are keys, and names of the organisation. */
const STEP_TEXTS = ["title", "role", "instructions", "description", "uri", "display_name", "reference_note"];

/** A run as stored; its steps are in `plan`. */
export interface RunDoc extends DocumentOf<typeof runs> {}

const runs = tenantSchema({
  goal: t.text(),
  project_id: t.nullable(t.string()),
  status: t.oneOf(shapes.RUN_STATUSES),
  initiated_by: t.mixed<{ id: string; display_name: string }>(),
  template_id: t.nullable(t.string()),
  /** The steps as JSON text: long and constant, so transitions need not copy them. */
  plan: t.large(t.texts(t.json(), ...STEP_TEXTS)),
  /** One for each step, in the same order. */
  progress: t.large(t.mixed<StepProgress[]>()),
  offers: t.large(t.texts(t.mixed<Offer[]>(), "note")),
  success_criteria: t.large(t.array(t.text())),
  ambiguity_score: t.nullable(t.number()),
  ambiguity_notes: t.large(t.texts(t.mixed<shapes.AmbiguityNote[]>())),
  exemplar_ids: t.array(t.string()),
  /** Given at its creation, for the filters of its steps. */
  values: t.texts(t.mixed<shapes.RunValues>()),
  pointer_ids: t.array(t.string()),
  outcome: t.nullable(t.oneOf(shapes.OUTCOMES)),
  closed_by_user_id: t.nullable(t.string()),
  close_note: t.nullable(t.text()),
  closed_at: t.nullable(t.date()),
  /** Guards every transition. */
  version: t.number(),
  /** Bytes of notes and evidence (see `Draft`). */
  noted: t.number(),
  outbox: t.large(t.texts(t.mixed<Outbox>(), "note", "notes", "subject")),
  /** Blobs of the outbox's snapshots, which its artifacts will reference. */
  snapshots: t.optional(t.array(t.string())),
  /** Set while the outbox is not empty. */
  relay_at: t.optional(t.date()),
  /** When to check for stale steps: by the time the next one becomes stale. */
  stale_check_at: t.optional(t.date()),
  /** Ids of its waits for events; absent if no step can wait. */
  waits: t.optional(t.array(t.string())),
  created_at: t.date(),
  updated_at: t.date(),
});
runs.index({ tenant_id: 1, created_at: -1, _id: -1 });
runs.index({ tenant_id: 1, status: 1, created_at: -1, _id: -1 });
runs.index({ tenant_id: 1, project_id: 1, created_at: -1, _id: -1 });
runs.index({ tenant_id: 1, template_id: 1, created_at: -1, _id: -1 });
runs.index({ tenant_id: 1, exemplar_ids: 1 });
runs.index({ tenant_id: 1, pointer_ids: 1 });
runs.index({ snapshots: 1 }, { sparse: true });
// For the loops, across tenants. Includes the version, which guards transitions, because the embedded store then need
// not read the document to check it; transitions change both fields anyway.
runs.index({ relay_at: 1, version: 1 });
runs.index({ stale_check_at: 1 });

export const RunModel: Model<RunDoc> = {
  erasure: {
    replaced: {
      of: [],
      by: { "initiated_by.id": ["goal", "plan", "success_criteria", "ambiguity_notes", "values"] },
      version: "version",
    },
  },
  move: { stage: 1 },
  anew: ({ outbox, stale_check_at }, now) => ({
    relay_at: Object.keys(outbox).length > 0 ? now : undefined,
    ...(stale_check_at && { stale_check_at: now }),
  }),
  name: "runs",
  ids: "uuid",
  schema: runs,
  outOfLine: "plan",
  namedBlobs: ["snapshots"],
};

/** A run with its steps, as used everywhere but in the store. */
export interface Run extends RunDoc {
  steps: StepDef[];
}

/** The facts of one transition after relaying. `_id` derives from run and version. */
export interface RunFactsDoc extends DocumentOf<typeof facts> {}

const facts = tenantSchema({
  run_id: t.string(),
  version: t.number(),
  facts: t.large(t.texts(t.mixed<Fact[]>(), "note", "notes", "subject")),
});
facts.index({ tenant_id: 1, run_id: 1, version: 1 });

export const RunFactsModel: Model<RunFactsDoc> = {
  erasure: { replaced: { of: ["facts.actor.actor_id"] } },
  move: { stage: 0 },
  name: "run_facts",
  schema: facts,
};

/** An artifact of a run, with its content as of its step's completion. */
export interface RunArtifactDoc extends DocumentOf<typeof artifacts> {}

const artifacts = tenantSchema({
  run_id: t.string(),
  step_record_id: t.nullable(t.string()),
  /** Absent in rows of older versions. */
  added_by: t.optional(t.string()),
  kind: t.string(),
  pointer: t.large(t.texts(t.mixed<Record<string, string | null>>())),
  content_hash: t.nullable(t.string()),
  byte_size: t.nullable(t.number()),
  mime_type: t.nullable(t.string()),
  snapshotted_at: t.nullable(t.date()),
  created_at: t.date(),
  updated_at: t.date(),
});
artifacts.index({ tenant_id: 1, run_id: 1, created_at: 1, _id: 1 });
artifacts.index({ tenant_id: 1, content_hash: 1 });

export const RunArtifactModel: Model<RunArtifactDoc> = {
  erasure: { replaced: { of: [], by: { added_by: "all" }, size: "byte_size" } },
  move: { stage: 0 },
  name: "run_artifacts",
  ids: "uuid",
  schema: artifacts,
  blobs: ["content_hash"],
};
