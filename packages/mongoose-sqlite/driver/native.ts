import { createRequire } from "node:module";
import type { BulkWriteResult, MongoBulkWriteError, WriteError } from "mongodb";
import type { Connection } from "mongoose";

const require = createRequire(import.meta.url);

// mongoose exports its native driver to CommonJS only; subclassing it is its documented extension point.
export const nativeDriver = require("mongoose/lib/drivers/node-mongodb-native") as {
  Connection: new (base: unknown) => NativeConnection;
  Collection: unknown;
  BulkWriteResult: unknown;
};

export type NativeConnection = Connection & {
  client: unknown;
  readyState: number;
  collections: Record<string, { onOpen(): void }>;
  onOpen(): void;
};

// The driver exports these classes as types only; callers of a bulk write rely on their shapes.
export const bulkClasses = require("mongodb/lib/bulk/common") as {
  BulkWriteResult: new (raw: object, ordered: boolean) => BulkWriteResult;
  WriteError: new (error: object) => WriteError;
  MongoBulkWriteError: new (error: object, result: BulkWriteResult) => MongoBulkWriteError;
};
