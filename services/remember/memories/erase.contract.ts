import { nullable, operation } from "../../../lib/contract/contract.ts";
import { Id, Timestamp, Uuid } from "../../../lib/contract/schema.ts";
import { Type } from "../../../lib/contract/type.ts";
import { REMOVAL } from "./removal.contract.ts";

const Count = Type.Integer({ minimum: 0 });

const Erased = Type.Object(
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
  },
  {
    title: "ErasedMemories",
    additionalProperties: Count,
    description: "Rows by what they were; of bundles and hand-offs those that named an erased memory.",
  },
);

export const eraseMemories = operation({
  action: "memories.erase",
  route: "POST /memories/erase",
  summary: "Erase memories for good",
  description:
    "For data-protection requests: exactly one of `agent_id`, `ids` and `subject`. Whatever their scope and status, with " +
    "their vectors, relationships and everything else that is kept of them; by `subject` also the documents that were " +
    "uploaded about it, with their files and chunks, and what was remembered from these. It answers when the bytes " +
    "are gone from the files of the service too, and is finished after a crash. `receipt` is a JWS of the service " +
    "(`/.well-known/jwks.json`). With `dry_run` nothing is erased and what can be counted before is. Again erases what is left.",
  access: { by: "org_admin", scope: "memory:write" },
  overQuota: true,
  // The action writes its own entry, with the counts.
  audit: false,
  body: {
    agent_id: Type.Optional(Id("ag", "All that this agent owns.")),
    ids: Type.Optional(Type.Array(Uuid("memory"), { minItems: 1, maxItems: 1000 })),
    subject: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1000,
        description:
          "All whose `metadata.subject` it is, or is among, or whose source event's or document's. A number is meant by its text.",
      }),
    ),
    dry_run: Type.Optional(Type.Boolean({ default: false })),
  },
  results: {
    200: Type.Object({
      dry_run: Type.Boolean(),
      erased_at: nullable(Timestamp),
      erased: Erased,
      storage: nullable(REMOVAL.storage),
      backups_until: REMOVAL.backups_until,
      receipt: nullable(Type.String({ description: "Null for a dry run." })),
    }),
  },
  errors: ["validation_error", "not_found"],
});
