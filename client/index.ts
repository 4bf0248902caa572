export {
  type Authorization,
  byKey,
  byLogin,
  bySession,
  byToken,
  type Login,
  type Session,
} from "./authorize.ts";
export { type ClientOptions, createClient } from "./client.ts";
export { ApiError, ConnectionError, isApiError } from "./errors.ts";
export type * from "./generated/types.ts";
export type { Call, CallOptions, PagedCall, StreamCall, StreamMessage } from "./operation.ts";
