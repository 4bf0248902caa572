import mongoose from "mongoose";
import { SqliteClient, type SqliteOptions } from "./client.ts";
import { type NativeConnection, nativeDriver } from "./native.ts";

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
