import { Type } from "typebox";
import { component, nullable, oneOf, operation } from "../../../lib/contract/contract.ts";
import { Id, Timestamp, Uuid } from "../../../lib/contract/schema.ts";
import {
  MEMORY_STATUSES,
  Memory,
  path,
  Reason,
  reader,
  ScopeOfMemory,
  Valid,
  writer,
} from "./memories.contract.ts";

export const promoteMemory = operation({
  action: "memories.promote",
  route: "POST /memories/{id}/promote",
  summary: "Promote a memory to a wider scope",
  description:
    "Use this to share a memory: from agent to team or institution, or from team to institution. Cannot be undone. Only for the owner and org admins. Returns the memory.",
  access: writer,
  audit: true,
  path,
  body: { scope: ScopeOfMemory, team_id: Type.Optional(nullable(Id("team", "Team, for the scope `team`."))) },
  answer: Memory,
  errors: ["business_rule_violation", "forbidden", "conflict"],
  mcp: true,
});

export const forgetMemory = operation({
  action: "memories.forget",
  route: "POST /memories/{id}/forget",
  summary: "Forget a memory",
  description:
    "Use this for a memory that is wrong or unwanted. It is no longer found, can be restored until the reversibility window ends, and is then purged. Memories that it superseded stay superseded. Only for the owner and org admins. Returns its id.",
  access: writer,
  overQuota: true,
  path,
  answer: Type.Object({ memory_id: Uuid("memory"), forgotten: Type.Boolean(), invalid_at: Timestamp }),
  errors: ["forbidden"],
  mcp: { destructive: true, idempotent: true },
});

export const restoreMemory = operation({
  action: "memories.restore",
  route: "POST /memories/{id}/restore",
  summary: "Restore a forgotten memory",
  description:
    "Use this to undo forgetting a memory. Returns it to its previous status, within the reversibility window. Only for the owner and org admins.",
  access: writer,
  path,
  answer: Memory,
  errors: ["forbidden", "conflict"],
  mcp: { idempotent: true },
});

export const supersedeMemory = operation({
  action: "memories.supersede",
  route: "POST /memories/{id}/supersede",
  summary: "Supersede a memory by another",
  description:
    "Use this if a newer memory makes this one obsolete. The successor must be at least as visible; neither may be superseded or forgotten. Only for the owner of the superseded memory and org admins. Returns both ids.",
  access: writer,
  audit: true,
  path,
  body: { superseded_by_id: Uuid("memory", "The successor."), reason: Type.Optional(Reason) },
  answer: Type.Object({ memory_id: Uuid("memory"), superseded_by: Uuid("memory"), invalid_at: Timestamp }),
  errors: ["business_rule_violation", "forbidden", "conflict"],
  mcp: {
    destructive: true,
    core: ["id", "superseded_by_id"],
    aliases: {
      id: ["memory_id", "old_id", "old_memory_id"],
      superseded_by_id: ["new_id", "new_memory_id", "successor_id", "replacement_id", "by"],
    },
  },
});

export const getMemoryLineage = operation({
  action: "memories.lineage",
  route: "GET /memories/{id}/lineage",
  summary: "Read the lineage of a memory",
  description:
    "Use this to see where a memory comes from. Returns the memories merged into it, directly or indirectly, and " +
    "the one that it superseded.",
  access: reader,
  path,
  answer: Type.Object({
    memory_id: Uuid("memory"),
    merge_lineage: Type.Array(
      Type.Object({
        loser_memory_id: Uuid("memory"),
        winner_memory_id: Uuid("memory"),
        origin: Type.String({ description: "The origin of the merge.", examples: ["proposal"] }),
      }),
      { description: "Memories merged into it, directly or indirectly, nearest first." },
    ),
    superseded: Type.Boolean({
      description: "The memory was superseded or merged into another.",
    }),
    supersedes_target: nullable(Uuid("memory", "The memory that it superseded.")),
  }),
  mcp: true,
});

const By = {
  agent_id: nullable(Id("ag", "The agent who did it; null if a person did.")),
  user_id: nullable(Id("usr", "The person who did it; null if an agent did.")),
  reason: nullable(Type.String({ description: "Why; null if nobody said." })),
};

const MemoryVersion = component("MemoryVersion", {
  id: Uuid("memory"),
  title: Type.String(),
  content: Type.String(),
  status: oneOf(MEMORY_STATUSES),
  valid: Valid,
  recorded_at: Timestamp,
  ...By,
  superseded_by: nullable(Uuid("memory", "The next version.")),
  superseded_at: nullable(Timestamp),
  corrections: Type.Array(
    Type.Object({
      at: Timestamp,
      valid: { ...Valid, description: "When it had been said to hold." },
      ...By,
    }),
    { description: "Corrections of its times, newest first." },
  ),
});

export const getMemoryHistory = operation({
  action: "memories.history",
  route: "GET /memories/{id}/history",
  summary: "Read what a memory said over time",
  description:
    "Use this to see what held when, who changed it and why. Returns the memory with the versions that it superseded and " +
    "those that superseded it, newest first: those that the caller can read, 200 at most.",
  access: reader,
  path,
  answer: component("MemoryHistory", { versions: Type.Array(MemoryVersion) }),
  mcp: true,
});
