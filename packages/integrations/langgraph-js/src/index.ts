export { SensoriumSaver } from "./saver.ts";
export { SensoriumStore } from "./store.ts";
