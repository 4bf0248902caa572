import { Type } from "typebox";
import { component, nullable, operation, optional } from "../../../lib/contract/contract.ts";
import { Id, Limit, Offset, Timestamp, Uuid } from "../../../lib/contract/schema.ts";
import { Memory, path, reader, writer } from "../memories/memories.contract.ts";

const TypeName = Type.String({
  examples: ["related_to"],
  description: "One of the types listed by `GET /relationship-types`. New types may be added.",
});

const Metadata = nullable(
  Type.Object(
    {},
    { additionalProperties: true, description: "Free-form data of the caller, at most 16 KB as JSON." },
  ),
);

const Strength = Type.Number({
  minimum: 0,
  maximum: 1,
  default: 0.5,
  description: "Strength; 1 is strongest.",
  examples: [0.5],
});

export const Relationship = component("Relationship", {
  id: Id("rel"),
  tenant_id: Id("tn"),
  source_memory_id: Uuid("memory"),
  target_memory_id: Uuid("memory"),
  relationship_type: TypeName,
  strength: Strength,
  metadata: Metadata,
  created_at: Timestamp,
});

export const createRelationship = operation({
  action: "relationships.create",
  route: "POST /memories/{id}/relationships",
  summary: "Create a relationship between two memories",
  description:
    "Use this to link memories that belong together. Returns the relationship; an existing one of the same type " +
    "is `conflict`.",
  access: writer,
  path,
  body: {
    target_memory_id: Uuid("memory", "Memory that the relationship points to."),
    relationship_type: TypeName,
    strength: Type.Optional(Strength),
    metadata: Type.Optional(Metadata),
  },
  results: { 201: Relationship },
  errors: ["conflict"],
  mcp: true,
});

export const listRelationships = operation({
  action: "relationships.list",
  route: "GET /memories/{id}/relationships",
  summary: "List the relationships of a memory, both directions, oldest first",
  description:
    "Use this to see what a memory is linked to. Returns direct relationships to memories that the caller can read and that are not forgotten or expired. Types in capitals, such as `SUPERSEDES` and `DERIVED_FROM`, are recorded by the service.",
  access: reader,
  path,
  query: {
    offset: Offset,
    limit: Limit(200, 200),
  },
  answer: Type.Object({
    relationships: Type.Array(Relationship),
    count: Type.Integer({ description: "Number of results." }),
  }),
  mcp: true,
});

export const deleteRelationship = operation({
  action: "relationships.delete",
  route: "DELETE /memories/{id}/relationships/{rel_id}",
  summary: "Delete a relationship",
  description:
    "Only its creator, the owner of its source memory, and org admins can delete it. Relationships recorded by " +
    "the service cannot be deleted.",
  access: writer,
  path,
  errors: ["forbidden"],
});

export const getMemoryGraph = operation({
  action: "relationships.graph",
  route: "GET /memories/{id}/graph",
  summary: "Read the graph around a memory",
  description:
    "Use this to see how memories connect over several hops. Returns readable memories, nearest first, and the " +
    "relationships between them.",
  access: reader,
  path,
  query: optional({
    depth: Type.Integer({ minimum: 1, maximum: 3, default: 1, description: "Number of hops." }),
    include_superseded: Type.Boolean({
      default: false,
      description: "Include superseded and merged memories.",
    }),
  }),
  answer: Type.Object({
    nodes: Type.Array(Memory, { description: "The memory itself, then the nearest first." }),
    edges: Type.Array(Relationship),
    truncated: Type.Boolean({ description: "There are more than 200 memories or 1,000 edges." }),
  }),
  mcp: true,
});

const RelationshipType = component("RelationshipType", {
  name: TypeName,
  description: Type.String(),
  inverse: nullable(Type.String({ description: "The inverse type." })),
});

export const listRelationshipTypes = operation({
  action: "relationships.types",
  route: "GET /relationship-types",
  summary: "List relationship types",
  description: "Use this before creating a relationship. Returns the types with their meanings and inverses.",
  access: reader,
  answer: Type.Object({
    relationship_types: Type.Array(RelationshipType),
    reserved: Type.Array(Type.String(), { description: "Only the service sets these." }),
    total: Type.Integer(),
  }),
  mcp: true,
});
