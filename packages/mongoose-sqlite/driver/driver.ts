import { createRequire } from "node:module";
import mongoose, { type Connection } from "mongoose";
import { SqliteClient, type SqliteOptions } from "./client.ts";

type NativeConnection = Connection & {
  client: unknown;
  readyState: number;
  collections: Record<string, { onOpen(): void }>;
  onOpen(): void;
};

// mongoose exports its native driver to CommonJS only; subclassing it is its documented extension point.
const nativeDriver = createRequire(import.meta.url)("mongoose/lib/drivers/node-mongodb-native") as {
  Connection: new (base: unknown) => NativeConnection;
  Collection: unknown;
  BulkWriteResult: unknown;
};

/**
 * Returns a driver for `Mongoose.setDriver`: mongoose over one SQLite file. A connection's address is the file's
 * directory, which this process locks while the connection is open.
 */
export function sqliteDriver(options: SqliteOptions = {}) {
  class SqliteConnection extends nativeDriver.Connection {
    async createClient(directory: string): Promise<this> {
      const connection = this as unknown as NativeConnection & { db: unknown; name: string };
      connection.readyState = mongoose.ConnectionStates.connecting;
      const client = new SqliteClient(directory, options);
      try {
        await client.connect();
      } catch (error) {
        connection.readyState = mongoose.ConnectionStates.disconnected;
        throw error;
      }
      const db = client.db();
      Object.assign(connection, { client, db, name: db.databaseName });
      connection.onOpen();
      for (const collection of Object.values(connection.collections)) collection.onOpen();
      return this;
    }
  }
  return {
    Connection: SqliteConnection,
    Collection: nativeDriver.Collection,
    BulkWriteResult: nativeDriver.BulkWriteResult,
  };
}
