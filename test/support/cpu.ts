import { readFileSync } from "node:fs";

/** In the environment: where each test file notes its processor time, one line of JSON each. */
export const CPU_FILE = "SENSORIUM_TEST_CPU";

/** Linux's unit: USER_HZ of all its ports. */
const TICKS_PER_SECOND = 100;

/** Returns the processor time, in seconds, of this process and of all children it has waited for (this process's alone where there is no /proc). */
export function cpuSeconds(): number {
  try {
    // After the name in brackets: utime, stime, cutime and cstime are the 12th to 15th fields (man 5 proc).
    const fields = readFileSync("/proc/self/stat", "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
}
