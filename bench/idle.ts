import { residentMegabytes } from "./lib/load.ts";
import type { Part } from "./lib/report.ts";
import { newWorld } from "./lib/world.ts";

const IDLE_SECONDS = 15;

/** Memory of an idle server. */
export const idlePart: Part = {
  name: "idle",
  title: "At rest",
  async run() {
    const start = performance.now();
    const world = await newWorld({ EMBEDDER: "none" });
    const ready = (performance.now() - start) / 1000;
    await new Promise((resolve) => setTimeout(resolve, IDLE_SECONDS * 1000));
    const megabytes = residentMegabytes(world.server.pid());
    await world.stop();
    return [
      { what: "first start to ready", figure: `${ready.toFixed(1)} s`, target: "≤ 3 s", met: ready <= 3 },
      {
        what: "resident memory, without an embedder",
        figure: `${megabytes.toFixed(0)} MB`,
        target: "≤ 220 MB",
        met: megabytes <= 220,
      },
    ];
  },
};
