#!/usr/bin/env node
import { ioOfProcess } from "./cli/environment.ts";
import { main } from "./cli/main.ts";

// The reader of the output may close it: `sensorium tail | head`.
process.stdout.on("error", () => process.exit(1));
process.exitCode = await main(process.argv.slice(2), ioOfProcess());
