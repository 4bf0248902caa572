/** Of `node:http`. An import of it would evaluate all it exports: with WebSocket an HTTP client of 10 MB. */
export const { Agent, createServer, request } = process.getBuiltinModule("node:http");
