import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";

/** The oldest Node on this machine that the packages promise to run on. */
export function oldestNode(): string {
  const found = ["/usr/bin/node", "/usr/local/bin/node"].filter((file) => existsSync(file));
  const fits = found.filter(
    (file) => Number(execFileSync(file, ["-p", "process.versions.node"]).toString().split(".")[0]) >= 20,
  );
  return fits[0] ?? process.execPath;
}
