import { Type } from "typebox";
import { component, nullable, operation } from "../../../lib/contract/contract.ts";
import { page, SomeText, Timestamp, Uuid, Words } from "../../../lib/contract/schema.ts";
import { GivenPointer, Pointer } from "../templates/templates.contract.ts";
import { MOST_ARTIFACTS, reader, writer } from "./shapes.contract.ts";

const Kind = Words(100, "Kind of artifact, as the run's steps expect it.", "document");
const MimeType = SomeText(200, "Media type of the content.", "text/markdown");

export const Artifact = component("RunArtifact", {
  id: Uuid("artifact"),
  run_id: Uuid("run"),
  step_record_id: nullable(Uuid("record")),
  kind: Kind,
  pointer: Pointer,
  snapshot_object_key: nullable(Type.String()),
  content_hash: nullable(Type.String({ description: "SHA-256 of its content when its step was completed." })),
  byte_size: nullable(Type.Integer()),
  mime_type: nullable(MimeType),
  snapshotted_at: nullable(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const registerRunArtifact = operation({
  action: "runs.register_artifact",
  route: "POST /runs/{run_id}/artifacts",
  summary: "Register an artifact of a run",
  description:
    "Use this to record a result of a step, wherever it is. Returns the artifact; its pointer is stored, never followed. A run has at " +
    `most ${MOST_ARTIFACTS} artifacts (rule \`run_limit\`).`,
  access: writer,
  audit: true,
  body: {
    kind: Kind,
    pointer: GivenPointer,
    step_record_id: Type.Optional(
      nullable(Uuid("record", "Attempt, completion, skip or reopening that it belongs to.")),
    ),
    mime_type: Type.Optional(nullable(MimeType)),
  },
  results: { 201: Artifact },
  errors: ["business_rule_violation"],
  mcp: true,
});

export const listRunArtifacts = operation({
  action: "runs.list_artifacts",
  route: "GET /runs/{run_id}/artifacts",
  summary: "List a run's artifacts, oldest first",
  description:
    "Use this to find a run's results. Returns a page of kinds, pointers and, for completed steps, content hashes.",
  access: reader,
  query: page,
  answer: Type.Object({ artifacts: Type.Array(Artifact), total: Type.Integer() }),
  mcp: true,
});

export const attachRunExemplar = operation({
  action: "runs.attach_exemplar",
  route: "POST /runs/{run_id}/exemplars",
  summary: "Attach an exemplar to a run",
  description:
    "Use this to give a run an example to follow. An attached exemplar cannot be deleted; attaching it again changes nothing. Returns the exemplars of the run.",
  access: writer,
  audit: true,
  body: { exemplar_id: Uuid("exemplar") },
  answer: Type.Object({ run_id: Uuid("run"), exemplar_ids: Type.Array(Uuid("exemplar")) }),
  errors: ["business_rule_violation"],
  mcp: { idempotent: true },
});
