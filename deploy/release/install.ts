/**
 * `node deploy/release/install.ts PACKED FOLDER` installs the server that `npm run release` packed into `PACKED`, with its optional
 * package, into `FOLDER`, as the image has it: what they depend on has the versions and the digests of the lock file.
 */
import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { manifestIn, ROOT, SERVER_PACKAGES } from "./build.ts";
import { lockIn } from "./lock.ts";

/** @throws Error if npm fails, or installs a version or content that the lock file does not have */
export function installServer(packed: string, folder: string): void {
  const tarballs = SERVER_PACKAGES.map((name) => {
    const [file] = globSync(`${name}-${manifestIn(".").version}.tgz`, { cwd: packed });
    if (!file) throw new Error(`${name} is not in ${packed}. Run: npm run release -- --dry-run`);
    return [name, `file:${resolve(packed, file)}`];
  });
  const root = { private: true, dependencies: Object.fromEntries(tarballs) };
  const locked = Object.entries(lockIn(ROOT)).filter(
    ([path, { link }]) => path.startsWith("node_modules/") && !link,
  );
  mkdirSync(folder, { recursive: true });
  write("package.json", root);
  // npm removes the packages that the server does not need, and adds only ours.
  write("package-lock.json", { lockfileVersion: 3, packages: { "": root, ...Object.fromEntries(locked) } });
  const args = ["install", "--ignore-scripts", "--omit=dev", "--omit=optional", "--no-audit", "--no-fund"];
  execFileSync("npm", [...args, "--loglevel=error"], { cwd: folder, stdio: "inherit" });
  const known = new Map(locked);
  for (const [path, { version, integrity }] of Object.entries(lockIn(folder))) {
    if (path === "" || SERVER_PACKAGES.includes(path.replace("node_modules/", ""))) continue;
    const wanted = known.get(path);
    if (version !== wanted?.version || integrity !== wanted?.integrity)
      throw new Error(
        `${path} ${version} is not in package-lock.json. Run npm install, and commit the file.`,
      );
  }

  function write(file: string, content: object): void {
    writeFileSync(join(folder, file), `${JSON.stringify(content, null, 2)}\n`);
  }
}

if (import.meta.main) {
  const [packed, folder] = process.argv.slice(2);
  if (!packed || !folder) throw new Error("Usage: node deploy/release/install.ts PACKED FOLDER");
  installServer(packed, folder);
}
