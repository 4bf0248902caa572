import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { API_KEY_PATTERN, hashApiKey } from "../../../../lib/access/api-key.ts";

const LONGEST_TOKEN = 4096;
const TOKEN = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i;
const KEY = new RegExp(`^Bearer +(${API_KEY_PATTERN.slice(1, -1)})$`, "i");

/** The credential of a request. An API key leaves this node only as its hash. */
export type Credential = { token: string } | { hash: string };

/** Returns the credential in an Authorization; undefined if it has another form. */
export function credentialOf(authorization: string): Credential | undefined {
  if (authorization.length > LONGEST_TOKEN) return undefined;
  const token = TOKEN.exec(authorization)?.[1];
  if (token) return { token };
  const key = KEY.exec(authorization)?.[1];
  return key ? { hash: hashApiKey(key) } : undefined;
}

interface Connection extends Socket {
  $authorization?: string;
}

/** Returns the connection's previous string if it is equal: its hash is cached, which saves a microsecond. */
export function asBefore({ socket }: IncomingMessage, authorization: string): string {
  // A nested request has no connection.
  const connection = socket as Connection | undefined;
  if (!connection) return authorization;
  if (connection.$authorization !== authorization) connection.$authorization = authorization;
  return connection.$authorization;
}
