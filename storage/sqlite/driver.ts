import mongoose from "mongoose";
import { EmbeddedClient } from "./client.ts";
import { type NativeConnection, nativeDriver } from "./native.ts";

/** mongoose's connection with the embedded client in place of MongoDB's; its address is the data directory. */
class EmbeddedConnection extends nativeDriver.Connection {
  async createClient(dataDir: string): Promise<this> {
    const connection = this as unknown as NativeConnection & { db: unknown; name: string };
    connection.readyState = mongoose.ConnectionStates.connecting;
    const client = new EmbeddedClient(dataDir);
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

/** What `Mongoose.setDriver` takes. */
export const embeddedDriver = {
  Connection: EmbeddedConnection,
  Collection: nativeDriver.Collection,
  BulkWriteResult: nativeDriver.BulkWriteResult,
};
