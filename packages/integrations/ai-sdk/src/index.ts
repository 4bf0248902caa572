export { type MemoryOptions, memoryMiddleware } from "./memory.ts";
export { sensoriumMCP } from "./tools.ts";
