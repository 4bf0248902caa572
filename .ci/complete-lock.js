/**
 * npm leaves a platform's optional package out of package-lock.json when the registry in use (a mirror, say)
 * does not have it, and `npm ci` then refuses the lockfile everywhere. This adds such entries; their versions
 * are the exact ones the parent package asks for. Every entry without its content's hash gets it, where the registry
 * has the package; the others are named. Run it after changing dependencies: `npm run lock:complete`.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

/** Default: the server's. Also: `packages/integrations/package-lock.json`. */
const [NAME = "package-lock.json"] = process.argv.slice(2);
const FILE = new URL(`../${NAME}`, import.meta.url);
const SYSTEMS = [
  "aix",
  "android",
  "darwin",
  "freebsd",
  "linux",
  "netbsd",
  "openbsd",
  "openharmony",
  "sunos",
  "win32",
];
const PROCESSORS = ["arm64", "arm", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "x64"];

const lock = JSON.parse(readFileSync(FILE, "utf8"));
const present = new Set(Object.keys(lock.packages).map((path) => path.replace(/^.*node_modules\//, "")));
const missing = Object.values(lock.packages).flatMap(({ dev, optionalDependencies = {} }) =>
  Object.entries(optionalDependencies)
    .filter(([name]) => !present.has(name))
    .map(([name, version]) => [`node_modules/${name}`, entry(name, version, dev)]),
);
const { "": root, ...others } = lock.packages;
const unverified = [];
for (const [path, locked] of [...Object.entries(others), ...missing]) {
  // This repository's own packages come with it.
  if (locked.integrity || locked.link || !path.startsWith("node_modules/")) continue;
  const integrity = integrityOf(path.replace(/^.*node_modules\//, ""), locked.version);
  if (integrity) locked.integrity = integrity;
  else unverified.push(`${path}@${locked.version}`);
}
const sorted = [...Object.entries(others), ...missing].sort(([a], [b]) => a.localeCompare(b, "en"));
writeFileSync(
  FILE,
  `${JSON.stringify({ ...lock, packages: { "": root, ...Object.fromEntries(sorted) } }, null, 2)}\n`,
);
console.log(`${missing.length} entries added to ${NAME}`);
if (unverified.length) {
  console.log(
    `The registry lacks ${unverified.length}, which are locked by version alone: ${unverified.join(", ")}`,
  );
}

/** The SHA-512 of a package as the registry names it; null where it does not have the package. */
function integrityOf(name, version) {
  const { stdout } = spawnSync("npm", ["view", `${name}@${version}`, "dist.integrity", "--json"], {
    encoding: "utf8",
  });
  try {
    const found = JSON.parse(stdout);
    return typeof found === "string" && found.startsWith("sha512-") ? found : null;
  } catch {
    return null;
  }
}

function entry(name, version, dev) {
  const os = SYSTEMS.find((system) => name.includes(system));
  const cpu = PROCESSORS.find((processor) => name.includes(`-${processor}`));
  if (!os || !cpu || !/^\d+\.\d+\.\d+$/.test(version)) {
    throw new Error(`${name}@${version}: cannot tell its platform and exact version; add it by hand`);
  }
  const libc = /musl/.test(name) ? ["musl"] : /gnu/.test(name) ? ["glibc"] : undefined;
  return {
    version,
    cpu: [cpu],
    ...(dev && { dev }),
    ...(os === "linux" && libc && { libc }),
    optional: true,
    os: [os],
  };
}
