import { Type } from "typebox";
import {
  type BlobReference,
  byReference,
  component,
  nullable,
  oneOf,
  operation,
  optional,
} from "../../lib/contract/contract.ts";
import { Key, Namespace, NamespacesPage, namespacesQuery, Timestamp } from "../../lib/contract/schema.ts";
import { SubjectOfMetadata } from "../../lib/contract/subject.ts";
import { Metadata } from "../../services/remember/memories/memories.contract.ts";

/** The longest value that is stored in its row and shown in lists: bytes. */
const INLINE_BYTES = 65_536;
const MAX_VALUE = 16 * 1024 * 1024;
const MOST_AT_ONCE = 100;

const reader = { by: "agent", scope: "memory:read" } as const;
const writer = { by: "agent", scope: "memory:write" } as const;

const namespace = {
  ...Namespace("Namespace of the entry: labels joined by dots."),
  "x-identifier": "state_namespace",
  examples: ["threads.42"],
};
const path = {
  namespace,
  key: { ...Key("Key, unique in the namespace of the agent."), "x-identifier": "state_key" },
};

export const StateEntry = component("StateEntry", {
  namespace: Type.String(),
  key: Type.String(),
  version: Type.Integer({ description: "1 for a new entry; each write adds 1." }),
  size: Type.Integer({ description: "Length of the value in bytes." }),
  value: nullable(
    Type.String({
      description: `The value as it was saved. Null in the results of writes, and in lists if it has over ${INLINE_BYTES} bytes.`,
    }),
  ),
  subject: SubjectOfMetadata,
  metadata: Metadata,
  created_at: Timestamp,
  updated_at: Timestamp,
  expires_at: nullable(Timestamp),
});

const fields = optional({
  subject: SubjectOfMetadata,
  metadata: { ...Metadata, description: "Any fields, at most 64 KB as JSON." },
  expires_at: nullable({ ...Timestamp, description: "The entry is deleted then. Default: it stays." }),
});

export const putState = operation({
  action: "state.put",
  route: "PUT /state/{namespace}/{key}",
  summary: "Save state under a key",
  description:
    "Use this for what a program must find again exactly: a checkpoint, a cursor, the messages of a session. It is " +
    "private to the agent, and no search finds it. Creates the entry or replaces it. Returns it without its value.",
  access: writer,
  path,
  body: {
    value: byReference<BlobReference | string>({
      description: "The value: a text, such as JSON.",
      examples: ['{"step": 3}'],
    }),
    ...fields,
    if_version: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: "Save only if the entry has this version; 0: only if it does not exist. Otherwise 409.",
      }),
    ),
  },
  byReference: { value: "text" },
  inlineUpTo: INLINE_BYTES,
  maxBody: MAX_VALUE,
  results: { 200: StateEntry, 201: StateEntry },
  errors: ["conflict"],
  mcp: true,
});

export const putStateEntries = operation({
  action: "state.put_many",
  route: "POST /state/{namespace}",
  summary: "Save several entries of state",
  description: `Creates or replaces each entry. Values of more than ${INLINE_BYTES} characters are saved one by one.`,
  access: writer,
  path: { namespace },
  body: {
    entries: Type.Array(
      Type.Object({
        key: Key("Key of the entry."),
        value: Type.String({
          maxLength: INLINE_BYTES,
          description: "The value: a text, such as JSON.",
          examples: ['{"step": 3}'],
        }),
        ...fields,
      }),
      { minItems: 1, maxItems: MOST_AT_ONCE, description: "Entries with different keys." },
    ),
  },
  answer: Type.Object({ saved: Type.Integer({ description: "Number of entries." }) }),
});

export const getState = operation({
  action: "state.get",
  route: "GET /state/{namespace}/{key}",
  summary: "Read state under a key",
  description: "Use this to read what the agent saved under this key. Returns the entry with its value.",
  access: reader,
  path,
  fromBlob: { field: "value" },
  answer: StateEntry,
  errors: ["not_found"],
  mcp: true,
});

export const deleteState = operation({
  action: "state.delete",
  route: "DELETE /state/{namespace}/{key}",
  summary: "Delete state under a key",
  description:
    "Use this to remove the entry that the agent saved under this key; it cannot be restored. Returns nothing.",
  access: writer,
  overQuota: true,
  // Programs change their own state all the time.
  audit: false,
  path,
  errors: ["not_found"],
  mcp: true,
});

const prefix = Type.Optional(Key("Only keys that begin so."));

export const listState = operation({
  action: "state.list",
  route: "GET /state/{namespace}",
  summary: "List the state in a namespace",
  description:
    "Use this to find entries by the order of their keys. Returns them with their values. A page is shorter than `limit` if the values are long.",
  access: reader,
  path: { namespace },
  query: {
    prefix,
    ...optional({
      after: Key("Only keys that sort after this one."),
      before: Key("Only keys that sort before this one."),
      order: oneOf(["asc", "desc"] as const, {
        default: "asc",
        description: "Order of the keys, by code point.",
      }),
      limit: Type.Integer({
        minimum: 1,
        maximum: MOST_AT_ONCE,
        default: MOST_AT_ONCE,
        description: "Maximum number.",
      }),
    }),
  },
  answer: Type.Object({
    entries: Type.Array(StateEntry),
    next: nullable(
      Type.String({
        description:
          "The last key, to pass as `after` (or `before` with `desc`) for the next page; null: the last one.",
      }),
    ),
  }),
  mcp: true,
});

export const clearState = operation({
  action: "state.clear",
  route: "DELETE /state/{namespace}",
  summary: "Delete the state in a namespace",
  description:
    "Deletes all entries of the namespace, or those whose keys begin with `prefix`; not those of namespaces below it.",
  access: writer,
  overQuota: true,
  audit: false,
  path: { namespace },
  query: { prefix },
  answer: Type.Object({ deleted: Type.Integer() }),
});

export const listStateNamespaces = operation({
  action: "state.namespaces",
  route: "GET /state",
  summary: "List the namespaces of the calling agent's state",
  access: reader,
  query: namespacesQuery,
  answer: NamespacesPage,
});
