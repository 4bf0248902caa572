/** From `node:http`. An import would evaluate all exports, including WebSocket and its 10 MB HTTP client. */
export const { Agent, createServer, request } = process.getBuiltinModule("node:http");
