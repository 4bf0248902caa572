import { nullable, operation } from "../../../lib/contract/contract.ts";
import { Id, Offset, Timestamp, Uuid } from "../../../lib/contract/schema.ts";
import { Type } from "../../../lib/contract/type.ts";
import { Memory, path, reader, writer } from "../memories/memories.contract.ts";

const TypeName = Type.String({
  examples: ["related_to"],
  description: "One of `GET /relationship-types`; the list grows without a change of this API.",
});

const Metadata = nullable(
  Type.Object({}, { additionalProperties: true, description: "At most 16 KB as JSON." }),
);

const Strength = Type.Number({ minimum: 0, maximum: 1, default: 0.5, examples: [0.5] });

const Relationship = Type.Object(
  {
    id: Id("rel"),
    tenant_id: Id("tn"),
    source_memory_id: Uuid("memory"),
    target_memory_id: Uuid("memory"),
    relationship_type: TypeName,
    strength: Strength,
    metadata: Metadata,
    created_at: Timestamp,
  },
  { title: "Relationship" },
);

export const createRelationship = operation({
  action: "relationships.create",
  route: "POST /memories/{id}/relationships",
  summary: "Create a relationship between two memories",
  description: "An edge of each type exists at most once: a repetition is `conflict`.",
  access: writer,
  path,
  body: {
    target_memory_id: Uuid("memory"),
    relationship_type: TypeName,
    strength: Type.Optional(Strength),
    metadata: Type.Optional(Metadata),
  },
  results: { 201: Relationship },
  errors: ["not_found", "validation_error", "conflict"],
  mcp: true,
});

export const listRelationships = operation({
  action: "relationships.list",
  route: "GET /memories/{id}/relationships",
  summary: "List the relationships of a memory, both directions, oldest first",
  description:
    "One hop. Only those whose other memory the caller may read and that is neither forgotten nor expired. `SUPERSEDES`, " +
    "`DERIVED_FROM` and other types in capitals are recorded by the service.",
  access: reader,
  path,
  query: {
    offset: Offset,
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 200 })),
  },
  results: {
    200: Type.Object({
      relationships: Type.Array(Relationship),
      count: Type.Integer({ description: "Number of results." }),
    }),
  },
  errors: ["not_found"],
  mcp: true,
});

export const deleteRelationship = operation({
  action: "relationships.delete",
  route: "DELETE /memories/{id}/relationships/{rel_id}",
  summary: "Delete a relationship",
  description:
    "For its creator, the owner of its source memory, and org admins. Relationships recorded by the service stay.",
  access: writer,
  path: { ...path, rel_id: Id("rel") },
  results: { 204: null },
  errors: ["not_found", "forbidden"],
});

export const memoryGraph = operation({
  action: "relationships.graph",
  route: "GET /memories/{id}/graph",
  heavy: true,
  summary: "Read the graph around a memory",
  access: reader,
  path,
  query: {
    depth: Type.Optional(Type.Integer({ minimum: 1, maximum: 3, default: 1, description: "Hops." })),
    include_superseded: Type.Optional(
      Type.Boolean({ default: false, description: "Include superseded and merged memories." }),
    ),
  },
  results: {
    200: Type.Object({
      nodes: Type.Array(Memory, { description: "The memory itself, then the nearest first." }),
      edges: Type.Array(Relationship),
      truncated: Type.Boolean({ description: "There are more than 200 memories or 1,000 edges." }),
    }),
  },
  errors: ["not_found"],
  mcp: true,
});

const RelationshipType = Type.Object(
  {
    name: TypeName,
    description: Type.String(),
    inverse: nullable(Type.String({ description: "The inverse type." })),
  },
  { title: "RelationshipType" },
);

export const listRelationshipTypes = operation({
  action: "relationships.types",
  route: "GET /relationship-types",
  summary: "List relationship types",
  access: reader,
  results: {
    200: Type.Object({
      relationship_types: Type.Array(RelationshipType),
      reserved: Type.Array(Type.String(), { description: "Only the service sets these." }),
      total: Type.Integer(),
    }),
  },
  mcp: true,
});

export const relationshipsOperations = [
  createRelationship,
  listRelationships,
  deleteRelationship,
  memoryGraph,
  listRelationshipTypes,
] as const;
