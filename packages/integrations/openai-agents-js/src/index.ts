export { type RunOnEventsOptions, runOnEvents } from "./run.ts";
export { SensoriumSession, type SessionOptions } from "./session.ts";
export { sensoriumMCP } from "./tools.ts";
