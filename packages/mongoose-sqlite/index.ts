export { SqliteClient, type SqliteOptions } from "./driver/client.ts";
export type { SqliteCollection, Storage } from "./driver/collection.ts";
export { sqliteDriver } from "./driver/driver.ts";
export { DirectoryInUse } from "./driver/lock.ts";
export { type Condition, check, salvage } from "./driver/salvage.ts";
export { DamagedFile, NotImplemented } from "./errors.ts";
export { decode, encode } from "./query/codec.ts";
export type { PackedField } from "./tables/packed.ts";
export type { Space } from "./tables/spare-space.ts";
