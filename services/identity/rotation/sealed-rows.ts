import type { Filter } from "mongodb";
import { type Sealed, type SecretBox, SecretError, sealedByOthers } from "../../../lib/crypto/secrets.ts";
import type { Row, TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import { type Model, type SealedField, sealedFields } from "../../../storage/model.ts";
import { MODELS } from "../../models.ts";

const BATCH = 50;

/** A field of a collection that holds sealed texts. */
interface SealedColumn extends SealedField {
  model: Model<Row>;
}

/** Every sealed field, as the models declare them. */
export const SEALED_COLUMNS: readonly SealedColumn[] = MODELS.flatMap((model) => {
  const declared = model as Model<Row>;
  return sealedFields(declared.schema as never).map((field) => ({ model: declared, ...field }));
});

/** The rows whose secrets a key other than the active one has sealed. */
export class SealedRows {
  readonly #store: Store;
  readonly #secrets: SecretBox;

  constructor(store: Store, secrets: SecretBox) {
    this.#store = store;
    this.#secrets = secrets;
  }

  /** Counts those that are left, by collection. */
  async count(): Promise<Record<string, number>> {
    const left: Record<string, number> = {};
    for (const column of SEALED_COLUMNS) {
      const { name } = column.model;
      const count = await this.#rows(column).system.countDocuments(this.#filter(column));
      if (count > 0) left[name] = (left[name] ?? 0) + count;
    }
    return left;
  }

  /** Whether any of them does not open: the record is that of other keys. */
  async requireReadable(): Promise<void> {
    for (const column of SEALED_COLUMNS) {
      const row = await this.#rows(column).system.findOne(this.#filter(column));
      if (row) this.#resealed(column, row as Row);
    }
  }

  /**
   * Seals each with the active key. A row that was changed meanwhile is left to the next pass.
   *
   * @param failed is called for a row whose secret no key here opens
   * @returns how many it has tried
   */
  async reseal(failed: (err: SecretError, row: { collection: string; id: string }) => void): Promise<number> {
    let tried = 0;
    for (const column of SEALED_COLUMNS) {
      const { path, model } = column;
      const projection = { tenant_id: 1, [path.split(".")[0] as string]: 1 };
      for (let after = "", more = true; more; ) {
        const filter = { ...this.#filter(column), _id: { $gt: after } };
        const options = { projection, sort: { _id: 1 }, limit: BATCH } as const;
        const rows = (await this.#rows(column)
          .system.find(filter as never, options)
          .toArray()) as Row[];
        // Together: the embedded store commits them at once.
        const writes = rows.map(async (row) => {
          try {
            await this.#write(column, row);
            tried++;
          } catch (err) {
            if (!(err instanceof SecretError)) throw err;
            failed(err, { collection: model.name, id: row._id });
          }
        });
        const rejected = (await Promise.allSettled(writes)).find(({ status }) => status === "rejected");
        if (rejected) throw (rejected as PromiseRejectedResult).reason;
        after = rows.at(-1)?._id ?? "";
        more = rows.length === BATCH;
      }
    }
    return tried;
  }

  /** Guarded by the former texts: a write that came first is not lost. */
  async #write(column: SealedColumn, row: Row): Promise<void> {
    const changes = this.#resealed(column, row);
    const former = Object.fromEntries(changes.map(({ at, before }) => [at, before]));
    const $set = Object.fromEntries(changes.map(({ at, after }) => [at, after]));
    if (changes.length === 0) return;
    await this.#rows(column).update(row.tenant_id, { _id: row._id, ...former } as never, { $set } as never);
  }

  #resealed({ path, place }: SealedColumn, row: Row) {
    const at = place(row._id);
    const others = new RegExp(sealedByOthers(this.#secrets.keyIds[0]).$regex);
    return textsAt(row, path.split("."))
      .filter(([, text]) => others.test(text))
      .map(([where, before]) => {
        const after = this.#secrets.seal(this.#secrets.open(before as Sealed, at), at);
        return { at: where, before, after };
      });
  }

  #rows({ model }: SealedColumn): TenantCollection<Row> {
    return this.#store.collection(model);
  }

  #filter({ path, only }: SealedColumn): Filter<Row> {
    const named = only === undefined ? {} : { [only]: { $exists: true } };
    return { ...named, [path]: sealedByOthers(this.#secrets.keyIds[0]) };
  }
}

/** Returns the texts at a path, through arrays, each with its concrete path. */
function textsAt(value: unknown, path: readonly string[], at: readonly string[] = []): [string, string][] {
  if (Array.isArray(value)) return value.flatMap((each, i) => textsAt(each, path, [...at, String(i)]));
  const [name, ...rest] = path;
  if (name === undefined) return typeof value === "string" ? [[at.join("."), value]] : [];
  return textsAt((value as Record<string, unknown> | null)?.[name], rest, [...at, name]);
}
