import type { Collection, Condition, Document, Filter, FindCursor, FindOptions, WithId } from "mongodb";
import type { LargeKeys } from "./model.ts";

/** Paths into a field's value, which the compiler does not check. */
type Paths = { [path: `${string}.${string}`]: unknown };

/** A filter of a tenant's documents, without the tenant. */
export type Where<T> = Paths & { [K in Exclude<keyof T, "tenant_id">]?: Condition<T[K]> } & {
  $and?: Where<T>[];
  $or?: Where<T>[];
};

/** Converts a filter by the common fields of all `T`, for generic code. */
export function byFields<T extends Base, Base>(filter: Where<Base>): Where<T> {
  return filter as unknown as Where<T>;
}

type Item<T> = NonNullable<T> extends readonly (infer E)[] ? E : never;
type Numbers<T> = { [K in keyof T as NonNullable<T[K]> extends number ? K : never]?: number };

/** An update of documents, by operators. */
export interface Update<T> {
  $set?: Partial<T> & Paths;
  $setOnInsert?: Partial<T>;
  $unset?: { [K in keyof T]?: unknown } & Paths;
  $inc?: Numbers<T> & Paths;
  $max?: Partial<T>;
  $push?: { [K in keyof T]?: Item<T[K]> | { $each: Item<T[K]>[]; $slice?: number } };
  $addToSet?: { [K in keyof T]?: Item<T[K]> | { $each: Item<T[K]>[] } };
  $pull?: { [K in keyof T]?: Condition<Item<T[K]>> };
}

/** A filter that includes its tenant. */
export type OwnedWhere<T> = Where<T> & { tenant_id: string };

export type Write<T> =
  | { updateOne: { filter: OwnedWhere<T>; update: Update<T>; upsert?: boolean } }
  | { updateMany: { filter: OwnedWhere<T>; update: Update<T> } }
  | { deleteMany: { filter: OwnedWhere<T> } };

/** A projection without the large fields: names others, or excludes all of them. */
type Brief<T> =
  | ({ readonly [K in LargeKeys<T>]?: never } & { readonly [field: string]: 1 | undefined })
  | ({ readonly [K in LargeKeys<T>]: 0 } & { readonly [field: string]: 0 });

/**
 * Options of a read of several rows. Those of a model with large fields (`large` in storage/model.ts) are read without
 * them, or `bounded` says what limits their bytes. Otherwise use `findWithin` or `page`.
 */
export type FindArgs<T> = [LargeKeys<T>] extends [never]
  ? [options?: FindOptions]
  : [options: FindOptions & ({ projection: Brief<T> } | { bounded: string })];

/** A collection across tenants, with the same rule for its reads. */
export type SystemCollection<T extends Document> = [LargeKeys<T>] extends [never]
  ? Collection<T>
  : Omit<Collection<T>, "find"> & {
      find(filter: Filter<T>, ...args: FindArgs<T>): FindCursor<WithId<T>>;
    };
