import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, dirname } from "node:path";

/** The oldest Node on this machine that the packages promise to run on. */
export function oldestNode(): string {
  const found = ["/usr/bin/node", "/usr/local/bin/node"].filter((file) => existsSync(file));
  const fits = found.filter(
    (file) => Number(execFileSync(file, ["-p", "process.versions.node"]).toString().split(".")[0]) >= 20,
  );
  return fits[0] ?? process.execPath;
}

/** The environment of a shell with this Node, without what npm tells its scripts. */
export function shellWith(node: string): NodeJS.ProcessEnv {
  const env = Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_ENV$/.test(name));
  const others = process.env.PATH?.split(delimiter).filter((each) => !each.includes("node_modules"));
  return { ...Object.fromEntries(env), PATH: [dirname(node), ...(others ?? [])].join(delimiter) };
}
