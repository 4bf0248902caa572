import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Manifest, PAGE, ROOT, SERVER_PACKAGES, serverParts } from "./build.ts";
import { lockIn } from "./lock.ts";

/**
 * Returns the bill of materials of the built server in SPDX 2.3, as JSON: what THIRD_PARTY_LICENSES has too. It is `npm sbom`
 * of a lock file with these packages alone. With `--omit=dev`, npm leaves out those that a tool needs as well.
 */
export function billOfMaterials(server: string): string {
  const { name, version, license, dependencies } = JSON.parse(
    readFileSync(join(server, "package.json"), "utf8"),
  ) as Manifest & { dependencies: Record<string, string> };
  const locked = lockIn(ROOT);
  const needed = Object.keys(dependencies).filter((each) => !SERVER_PACKAGES.includes(each));
  const parts = [...new Set(serverParts(needed))].map((path) => {
    const { version, resolved, integrity, license, dependencies = {} } = locked[path] ?? {};
    // Packages copied in part have none.
    const own = path === `node_modules/${PAGE}` ? {} : dependencies;
    return [path, { version, resolved, integrity, license, dependencies: own }] as const;
  });
  const top = parts.flatMap(([path, part]) => {
    const [, name] = /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path) ?? [];
    return name ? [[name, part.version] as const] : [];
  });
  const root = { name, version, license, dependencies: Object.fromEntries(top) };
  const folder = mkdtempSync(join(tmpdir(), "sensorium-sbom-"));
  const write = (file: string, content: object) => writeFileSync(join(folder, file), JSON.stringify(content));
  try {
    write("package.json", root);
    write("package-lock.json", { lockfileVersion: 3, packages: { "": root, ...Object.fromEntries(parts) } });
    const args = ["sbom", "--package-lock-only", "--sbom-format=spdx", "--sbom-type=application"];
    return execFileSync("npm", args, { cwd: folder, encoding: "utf8", maxBuffer: 2 ** 26 });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
