import type { Condition } from "mongodb";

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

/** One write of a bulk. */
export type Write<T> =
  | { updateOne: { filter: OwnedWhere<T>; update: Update<T>; upsert?: boolean } }
  | { updateMany: { filter: OwnedWhere<T>; update: Update<T> } }
  | { deleteMany: { filter: OwnedWhere<T> } };
