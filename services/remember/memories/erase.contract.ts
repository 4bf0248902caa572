import { Type } from "typebox";
import { component, nullable, operation, optional } from "../../../lib/contract/contract.ts";
import { Id, SomeText, Timestamp, Uuid } from "../../../lib/contract/schema.ts";
import { REMOVAL } from "../../identity/tenants/tenants.contract.ts";

const Count = Type.Integer({ minimum: 0 });

const Erased = component(
  "ErasedMemories",
  {
    memories: Count,
    documents: Count,
    chunks: Count,
    vectors: Type.Optional(Count),
    relationships: Count,
    citations: Count,
    merge_proposals: Count,
    findings: Count,
    bundles: Count,
    handoffs: Count,
    state_entries: Type.Optional(Count),
    a2a_tasks: Type.Optional(Count),
    schedules: Type.Optional(Count),
  },
  {
    additionalProperties: Count,
    description: "Rows by kind; bundles and handoffs count if they named an erased memory.",
  },
);

export const eraseMemories = operation({
  action: "memories.erase",
  route: "POST /memories/erase",
  summary: "Erase memories permanently",
  description:
    "For data-protection requests. Pass exactly one of `agent_id`, `ids` and `subject`. Erases memories of any " +
    "scope and status with their vectors, relationships and other data, and A2A tasks and schedules that mention them; " +
    "by `subject` also the documents uploaded about it, their files and chunks, and the memories derived from these; by " +
    "`agent_id` and `subject` also state, A2A tasks and schedules; by `agent_id` also bundles and handoffs. Logs and reasons of deliveries, and texts of runs, that name what is erased, or " +
    "that the agent wrote, are replaced by `[erased]`, as are its outputs and exemplars; by `subject` also texts of events, " +
    "outputs, exemplars, steps of runs, approvals, schedules, handoffs and bundles that name the person. Stored " +
    "answers to an Idempotency-Key with any of it are dropped. Responds once the data is removed " +
    "from the service's files; an erasure interrupted by a crash is finished. `receipt` is a JWS of the service " +
    "(`/.well-known/jwks.json`). If data is left, repeat the request.",
  access: { by: "org_admin", scope: "memory:write" },
  overQuota: true,
  // The action writes its own entry, with the counts.
  audit: false,
  body: optional({
    agent_id: Id(
      "ag",
      "Erase all memories, state, A2A tasks, schedules, bundles and handoffs of this agent.",
    ),
    ids: Type.Array(Uuid("memory"), { minItems: 1, maxItems: 1000, description: "Erase these memories." }),
    subject: SomeText(
      1000,
      "Erase memories, state and documents with this `subject`, also if `metadata.subject` is or contains it, memories whose source event or document has it, and A2A tasks and schedules with a field `subject` that is or contains it. Numbers are compared as text.",
    ),
    dry_run: Type.Boolean({ default: false, description: "Only count; erase nothing." }),
  }),
  answer: Type.Object({
    dry_run: Type.Boolean(),
    erased_at: nullable(Timestamp),
    erased: Erased,
    storage: nullable(REMOVAL.storage),
    backups_until: REMOVAL.backups_until,
    receipt: nullable(Type.String({ description: "Null for a dry run." })),
  }),
  errors: ["not_found"],
});
