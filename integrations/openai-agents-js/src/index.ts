export { sensoriumMCP } from "./tools.ts";
