/**
 * npm leaves a platform's optional package out of package-lock.json when the registry in use (a mirror, say)
 * does not have it, and `npm ci` then refuses the lockfile everywhere. This adds such entries; their versions
 * are the exact ones the parent package asks for. Run it after changing dependencies: `npm run lock:complete`.
 */
import { readFileSync, writeFileSync } from "node:fs";

const FILE = new URL("../package-lock.json", import.meta.url);
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
const sorted = [...Object.entries(others), ...missing].sort(([a], [b]) => a.localeCompare(b, "en"));
writeFileSync(
  FILE,
  `${JSON.stringify({ ...lock, packages: { "": root, ...Object.fromEntries(sorted) } }, null, 2)}\n`,
);
console.log(`${missing.length} entries added to package-lock.json`);

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
