export { SensoriumStore } from "./store.ts";
