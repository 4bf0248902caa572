import { nullable, operation } from "../../../lib/contract/contract.ts";
import { Timestamp, Uuid } from "../../../lib/contract/schema.ts";
import { Type } from "../../../lib/contract/type.ts";
import { Memory, Namespace, newMemoryFields } from "./memories.contract.ts";

const reader = { by: "agent", scope: "memory:read" } as const;
const writer = { by: "agent", scope: "memory:write" } as const;

const path = {
  namespace: {
    ...Namespace("Namespace of the memory: labels joined by dots."),
    "x-identifier": "memory_namespace",
  },
  key: Type.String({
    "x-identifier": "memory_key",
    minLength: 1,
    maxLength: 500,
    pattern: "^[^\\x00-\\x1f\\x7f]+$",
    description: "Key, unique in the namespace of the agent.",
    examples: ["terms"],
  }),
};

const { title, content, type, scope, supersedes_id: _, ...others } = newMemoryFields;

export const putMemoryByKey = operation({
  action: "memories.put_by_key",
  route: "PUT /memories/keys/{namespace}/{key}",
  summary: "Save a memory under a key",
  description:
    "Use this for a memory that the agent addresses by a name. Creates it, or replaces all fields of the existing one; its scope stays. After the memory was forgotten, has expired or was superseded, a new one is created. Returns the memory.",
  access: writer,
  path,
  body: {
    title: Type.Optional({ ...title, description: "Short summary. Default: the key." }),
    content: Type.Optional({ ...content, description: "Text of the memory. Default: `metadata` as JSON." }),
    type: Type.Optional({ ...type, description: "Kind of knowledge. Default: `semantic`." }),
    scope: Type.Optional({
      ...scope,
      description: "Who can read it. Default: `agent`. It stays when the memory is replaced.",
    }),
    ...others,
  },
  results: { 200: Memory, 201: Memory },
  errors: ["validation_error", "conflict"],
  mcp: true,
});

export const getMemoryByKey = operation({
  action: "memories.get_by_key",
  route: "GET /memories/keys/{namespace}/{key}",
  summary: "Read the memory under a key",
  description:
    "Use this to read what the calling agent saved under this key. Returns the memory while it is active.",
  access: reader,
  path,
  results: { 200: Memory },
  errors: ["not_found"],
  mcp: true,
});

export const deleteMemoryByKey = operation({
  action: "memories.delete_by_key",
  route: "DELETE /memories/keys/{namespace}/{key}",
  summary: "Forget the memory under a key",
  description:
    "Use this for a memory under a key that is no longer true. Forgets it: it can be restored by its id until the reversibility window ends. Returns its id.",
  access: writer,
  overQuota: true,
  path,
  results: {
    200: Type.Object({ memory_id: Uuid("memory"), forgotten: Type.Boolean(), invalid_at: Timestamp }),
  },
  errors: ["not_found"],
  mcp: true,
});

/** The most of one page of namespaces. */
export const MOST_NAMESPACES = 200;

export const listNamespaces = operation({
  action: "memories.namespaces",
  route: "GET /memories/namespaces",
  heavy: true,
  summary: "List the namespaces of the calling agent's memories",
  description:
    "Use this to see which namespaces the agent's memories are in. Returns those that have active memories, in alphabetical order.",
  access: reader,
  query: {
    prefix: Type.Optional(Namespace("Only this namespace and those below it.")),
    max_depth: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        description: "Most labels of a namespace: deeper ones are cut off to these, and listed once.",
      }),
    ),
    after: Type.Optional(Namespace("The last namespace of the previous page.")),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MOST_NAMESPACES, default: 100, description: "Maximum number." }),
    ),
  },
  results: {
    200: Type.Object({
      namespaces: Type.Array(Type.String({ examples: ["customers.acme"] })),
      next: nullable(
        Type.String({ description: "To pass as `after` for the next page; null: the last one." }),
      ),
    }),
  },
  mcp: true,
});

export const memoryKeysOperations = [
  putMemoryByKey,
  getMemoryByKey,
  deleteMemoryByKey,
  listNamespaces,
] as const;
