/**
 * The server's part of `node:http`. An import of that module would read all of its exports, and so load Node's own
 * client for `fetch`: 4 % of a start.
 */
export const { createServer, STATUS_CODES, validateHeaderName, validateHeaderValue } =
  process.getBuiltinModule("node:http");
