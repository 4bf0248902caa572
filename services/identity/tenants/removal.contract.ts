import { Type } from "typebox";
import { nullable, oneOf } from "../../../lib/contract/contract.ts";
import { Timestamp } from "../../../lib/contract/schema.ts";

/** Removal status of each storage place, in an erasure's answer and receipt. */
export const REMOVAL = {
  storage: oneOf(["rewritten", "overwritten", "deleted"], {
    description:
      "How the bytes were removed from the store's files. `rewritten`: the files were rewritten without them. " +
      "`overwritten`: in place; fragments of rows that SQLite moved earlier, about one in a thousand, may remain in unused " +
      "parts of pages. `deleted`: by MongoDB, whose data files, journal and oplog may keep them until the space is reused.",
  }),
  backups_until: nullable(
    Type.String({
      format: "date-time",
      description:
        "Time until which the operator's backups may contain the erased data (`BACKUP_RETENTION_DAYS`). Null: unknown.",
    }),
  ),
};

/** What becomes of the shared memories of an agent or a person that is deleted. */
export const SharedMemories = Type.Optional(
  oneOf(["keep", "erase"], {
    default: "keep",
    description: "Whether memories that were shared with a team or the organisation stay.",
    examples: ["keep"],
  }),
);

/** Result of the deletion of an agent or a person. */
export const Deleted = Type.Object(
  {
    id: Type.String(),
    erased_at: Timestamp,
    erased: Type.Record(Type.String(), Type.Integer({ minimum: 0 }), { description: "Rows by kind." }),
    storage: REMOVAL.storage,
    backups_until: REMOVAL.backups_until,
    receipt: Type.String({ description: "A JWS of the service (`/.well-known/jwks.json`)." }),
  },
  { title: "Deleted" },
);
