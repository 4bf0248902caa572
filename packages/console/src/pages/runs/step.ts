import type { RunWithAttempts } from "../../../../client/index.ts";

export type Step = RunWithAttempts["steps"][number];
