import type { Command } from "./command.ts";
import { connect } from "./connect.ts";
import { doctor } from "./doctor.ts";
import { listen, publish, tail } from "./events.ts";
import { handoff } from "./handoff.ts";
import { interest } from "./interest.ts";
import { mcp } from "./mcp.ts";
import { recall, remember } from "./memory.ts";
import { run } from "./run.ts";

/** The commands by name. */
export const COMMANDS: Record<string, Command> = {
  connect,
  interest,
  publish,
  listen,
  tail,
  remember,
  recall,
  handoff,
  run,
  mcp,
  doctor,
};
