import { Type } from "typebox";
import { component, nullable, oneOf, operation } from "../../../lib/contract/contract.ts";
import { AnyText, Id, page, Timestamp, Uuid } from "../../../lib/contract/schema.ts";
import { Content, reader, writer } from "../memories/memories.contract.ts";

export const MERGE_STATUSES = ["open", "resolved", "rejected"] as const;
export type MergeStatus = (typeof MERGE_STATUSES)[number];

const path = { id: Uuid("merge_proposal") };
const Note = nullable(AnyText(2000, "Reason for the proposal or the decision.", "Both say the same."));
const Status = oneOf(MERGE_STATUSES, { description: "Status of the proposal." });

export const MergeProposal = component("MergeProposal", {
  id: Uuid("merge_proposal"),
  tenant_id: Id("tn"),
  proposer_user_id: nullable(Id("usr")),
  proposer_agent_id: nullable(Id("ag", "Both null: the service found a likely duplicate.")),
  memory_a_id: Uuid("memory"),
  memory_b_id: Uuid("memory"),
  surviving_memory_id: nullable(Uuid("memory")),
  status: Status,
  similarity: nullable(
    Type.Number({ description: "Similarity of the texts, if the service proposed it.", examples: [0.97] }),
  ),
  proposed_at: Timestamp,
  resolved_at: nullable(Timestamp),
  resolved_by_user_id: nullable(Id("usr")),
  resolution_note: Note,
});

export const proposeMerge = operation({
  action: "merges.propose",
  route: "POST /memories/merge-proposals",
  summary: "Propose to merge two memories",
  description:
    "Use this for two memories that say the same; an org admin decides. The caller must be able to read both. " +
    "Returns the proposal; an open one by the service for the same memories is taken over.",
  access: writer,
  body: {
    memory_a_id: Uuid("memory", "One of the memories."),
    memory_b_id: Uuid("memory", "The other memory."),
    resolution_note: Type.Optional(Note),
  },
  results: { 201: MergeProposal },
  errors: ["not_found", "conflict"],
  mcp: true,
});

export const listMerges = operation({
  action: "merges.list",
  route: "GET /memories/merge-proposals",
  summary: "List merge proposals, newest first",
  description:
    "Use this before proposing a merge. Returns proposals whose memories the caller can both read; for org " +
    "admins, all.",
  access: reader,
  query: { status: Type.Optional(Status), ...page },
  answer: Type.Object({
    merge_proposals: Type.Array(MergeProposal),
    total: Type.Integer({ description: "Except for org admins: among the tenant's latest 10,000." }),
  }),
  mcp: true,
});

export const getMerge = operation({
  action: "merges.get",
  route: "GET /memories/merge-proposals/{id}",
  summary: "Read a merge proposal",
  access: reader,
  path,
  answer: MergeProposal,
});

const decider = { by: "org_admin", scope: "memory:write" } as const;

export const resolveMerge = operation({
  action: "merges.resolve",
  route: "POST /memories/merge-proposals/{id}/resolve",
  summary: "Merge two memories",
  description:
    "The other memory gets the status `merged`. The surviving memory must be at least as visible as the other, " +
    "otherwise 422, rule `scope_only_widens`.",
  access: decider,
  overQuota: true,
  path,
  body: {
    surviving_memory_id: Uuid("memory", "Memory to keep: `memory_a_id` or `memory_b_id`."),
    resolution_note: Type.Optional(Note),
    merged_content: Type.Optional(
      nullable({ ...Content, description: "New content of the surviving memory. Default: unchanged." }),
    ),
  },
  answer: MergeProposal,
  errors: ["business_rule_violation", "conflict"],
});

export const rejectMerge = operation({
  action: "merges.reject",
  route: "POST /memories/merge-proposals/{id}/reject",
  summary: "Reject a merge proposal",
  description: "Both memories stay as they are.",
  access: decider,
  overQuota: true,
  path,
  body: { resolution_note: Type.Optional(Note) },
  answer: MergeProposal,
  errors: ["conflict"],
});
