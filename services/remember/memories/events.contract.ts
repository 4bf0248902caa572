import { Type } from "typebox";
import { component, nullable } from "../../../lib/contract/contract.ts";
import { Timestamp, Uuid } from "../../../lib/contract/schema.ts";
import { Memory } from "./memories.contract.ts";
import { QueryId } from "./usage.contract.ts";

const { type, scope, team_id, agent_id, status } = Memory.properties;

/** The data of `service.memory.*`. */
export const MemoryChange = component(
  "MemoryChange",
  {
    ...{ memory_id: Uuid("memory"), type, scope, team_id, agent_id, status },
    superseded_by: nullable(Uuid("memory", "Memory that superseded it or that it was merged into.")),
    at: Timestamp,
  },
  { description: "A memory after a change, without its content." },
);

/** The data of `memory.cited`. */
export const MemoryCitation = component("MemoryCitation", {
  memory_id: Uuid("memory"),
  cited_by: Type.String({
    description: "The agent or person who used it.",
    examples: ["ag_4fXq1mCz8Jw0bT7kLr2N"],
  }),
  own: Type.Boolean({ description: "Cited by its owner: this does not affect the ranking." }),
  originating_query_id: nullable(QueryId),
  at: Timestamp,
});
