import { Type } from "typebox";
import { operation } from "../../../lib/contract/contract.ts";
import {
  Key,
  Namespace,
  NamespacesPage,
  namespacesQuery,
  Timestamp,
  Uuid,
} from "../../../lib/contract/schema.ts";
import { Memory, newMemoryFields } from "./memories.contract.ts";

const reader = { by: "agent", scope: "memory:read" } as const;
const writer = { by: "agent", scope: "memory:write" } as const;

const path = {
  namespace: {
    ...Namespace("Namespace of the memory: labels joined by dots."),
    "x-identifier": "memory_namespace",
  },
  key: { ...Key("Key, unique in the namespace of the agent."), "x-identifier": "memory_key" },
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
  errors: ["conflict"],
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
  answer: Memory,
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
  answer: Type.Object({ memory_id: Uuid("memory"), forgotten: Type.Boolean(), invalid_at: Timestamp }),
  errors: ["not_found"],
  mcp: true,
});

export const listMemoryNamespaces = operation({
  action: "memories.namespaces",
  route: "GET /memories/namespaces",
  summary: "List the namespaces of the calling agent's memories",
  description:
    "Use this to see which namespaces the agent's memories are in. Returns those that have active memories, in alphabetical order.",
  access: reader,
  query: namespacesQuery,
  answer: NamespacesPage,
  mcp: true,
});
