export { SensoriumSession, type SessionOptions } from "./session.ts";
export { sensoriumMCP } from "./tools.ts";
