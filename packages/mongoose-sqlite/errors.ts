import type { RawObject } from "./query/values.ts";

/** An error that MongoDB's server would return, by its code. */
export class ServerFault extends Error {
  readonly code: number;
  readonly codeName: string;
  readonly detail: { keyPattern?: RawObject; keyValue?: RawObject };

  constructor(
    code: number,
    codeName: string,
    message: string,
    detail: { keyPattern?: RawObject; keyValue?: RawObject } = {},
  ) {
    super(message);
    this.code = code;
    this.codeName = codeName;
    this.detail = detail;
  }
}

/** MongoDB error codes of this store. */
export const fault = {
  badValue: (message: string) => new ServerFault(2, "BadValue", message),
  typeMismatch: (message: string) => new ServerFault(14, "TypeMismatch", message),
  pathNotViable: (message: string) => new ServerFault(28, "PathNotViable", message),
  conflictingUpdate: (path: string, other: string) =>
    new ServerFault(
      40,
      "ConflictingUpdateOperators",
      `Updating the path '${path}' would create a conflict at '${other}'`,
    ),
  immutableId: () =>
    new ServerFault(
      66,
      "ImmutableField",
      "Performing an update on the path '_id' would modify the immutable field '_id'",
    ),
  indexOptionsConflict: (message: string) => new ServerFault(85, "IndexOptionsConflict", message),
  indexKeySpecsConflict: (message: string) => new ServerFault(86, "IndexKeySpecsConflict", message),
  duplicateKeys: (collection: string, index: string) =>
    new ServerFault(
      11000,
      "DuplicateKey",
      `E11000 duplicate key error collection: ${collection} index: ${index}`,
    ),
  parallelArrays: (a: string, b: string) =>
    new ServerFault(171, "CannotIndexParallelArrays", `cannot index parallel arrays [${a}] [${b}]`),
};

/** Thrown for a feature of MongoDB that this store does not implement. */
export class NotImplemented extends Error {
  constructor(what: string) {
    super(`mongoose-sqlite does not implement ${what}`);
    this.name = "NotImplemented";
  }
}

/** The data file is damaged, or its log is missing. */
export class DamagedFile extends Error {}

/** An error sent from a worker thread to the main thread. */
export type WireError = {
  kind: "server" | "unsupported" | "internal";
  message: string;
  code?: number;
  codeName?: string;
  keyPattern?: RawObject;
  keyValue?: RawObject;
};

export function toWire(error: unknown): WireError {
  if (error instanceof ServerFault) {
    return {
      kind: "server",
      message: error.message,
      code: error.code,
      codeName: error.codeName,
      ...error.detail,
    };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { kind: error instanceof NotImplemented ? "unsupported" : "internal", message };
}
