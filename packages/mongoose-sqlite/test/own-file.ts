import { join } from "node:path";
import { atEnd, ownFolder } from "../../../test/support/own-folder.ts";
import { Queries } from "../query/queries.ts";
import { Catalog } from "../tables/catalog.ts";
import { openForWriting } from "../tables/data-file.ts";
import { RowWriter } from "../tables/row-writer.ts";
import { Schema } from "../tables/schema.ts";
import { Statements } from "../tables/statements.ts";
import { Writes } from "../update/writes.ts";

/** A new file of rows, with what the writer thread has for it, until the tests end. */
export async function ownFile() {
  const statements = new Statements(openForWriting(join(await ownFolder(), "data.db")));
  atEnd(() => statements.db.close());
  const catalog = new Catalog(statements);
  const schema = new Schema(statements, catalog);
  const rows = new RowWriter(statements, schema);
  const writes = new Writes(catalog, schema, new Queries(statements, catalog), rows);
  return { statements, catalog, schema, rows, writes };
}
