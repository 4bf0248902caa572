export {
  type Authorization,
  byKey,
  byLogin,
  bySession,
  byToken,
  type Login,
  type Session,
} from "./authorize.ts";
export {
  type Client,
  type ClientOptions,
  createClient,
  type MemoryFields,
  type TypedClient,
} from "./client.ts";
export { ApiError, ConnectionError, isApiError, isCredentialRefused } from "./errors.ts";
export type { EventOf, EventsOf, NewEvent, NewEventOf } from "./event-types.ts";
export { quoteExcerpt } from "./excerpt.ts";
export { FILE_TYPES, fileTypeOf } from "./generated/file-types.ts";
export { quoteAsData } from "./generated/quoted.ts";
export type * from "./generated/types.ts";
export { GiveUp, type Handler, type HandlerContext, type ListenOptions, RetryLater } from "./handler.ts";
export type { NewInterest } from "./interest.ts";
export type { Listener } from "./listen.ts";
export { type McpEndpoint, type McpOptions, mcpEndpoint } from "./mcp.ts";
export type { Call, CallOptions, PagedCall, StreamCall, StreamMessage } from "./operation.ts";
export type { Wait } from "./request.ts";
