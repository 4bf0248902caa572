import { nullable, oneOf } from "../../../lib/contract/contract.ts";
import { Type } from "../../../lib/contract/type.ts";

/** Removal status of each storage place, in an erasure's answer and receipt. */
export const REMOVAL = {
  storage: oneOf(["rewritten", "overwritten", "deleted"], {
    description:
      "How the bytes were removed from the store's files. `rewritten`: the files were written anew without them. " +
      "`overwritten`: they were overwritten in place; of rows that SQLite had moved before, about one in a thousand, " +
      "fragments may remain in unused parts of pages. `deleted`: by MongoDB, whose data files, journal and oplog may " +
      "hold them until their space is used again.",
  }),
  backups_until: nullable(
    Type.String({
      format: "date-time",
      description:
        "Until when a backup of the operator's may hold what was erased (`BACKUP_RETENTION_DAYS`). Null: not known.",
    }),
  ),
};
