import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Command } from "./command.ts";
import { Failure } from "./usage.ts";

/** The server's own command, in a checkout or an installation of the server; not in the client's package. */
const PROGRAM = fileURLToPath(new URL("../../../bin/server.js", import.meta.url));

/** Returns what may follow the words of an operator's command; nothing without the server. */
export function adminCandidates(words: string[]): string[] {
  if (!existsSync(PROGRAM)) return [];
  const { stdout } = spawnSync(process.execPath, [PROGRAM, "admin", "__complete", ...words], {
    encoding: "utf8",
  });
  return stdout.split("\n").filter(Boolean);
}

export const admin: Command = {
  takes: "COMMAND",
  does: "Runs an operator's command on tenants, users, agents, keys, connectors and nodes: on the server, or on its store.",
  examples: ["admin", "admin tenants list", "admin users reset-password ada@example.com"],
  open: true,
  raw: true,
  async run(context) {
    if (!existsSync(PROGRAM))
      throw new Failure(
        "The operator's commands are part of the server: run `sensorium admin` where it is installed, in a checkout `npm run admin -- COMMAND`.",
        "unavailable_here",
      );
    const child = spawn(process.execPath, [PROGRAM, "admin", ...context.words], { stdio: "inherit" });
    context.exitCode = await new Promise<number>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => resolve(code ?? 1));
    });
  },
};
