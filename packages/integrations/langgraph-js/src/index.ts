export { type ResumableGraph, type ResumeOptions, resumeOnEvents } from "./resume.ts";
export { SensoriumSaver } from "./saver.ts";
export { SensoriumStore } from "./store.ts";
