// Makes an installation ready, by npm's script `prepare` and in the image: in a checkout it deletes what packages bring and
// nothing here uses (200 MB), and builds the console; then it starts the server once in a temporary folder, so that Node's
// compile cache is filled (code-cache.js): the first start of a user, or of a container, is then as fast as later ones.
// Plain JavaScript, because any Node may run it.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const cwd = join(import.meta.dirname, "..");
const packages = join(cwd, "node_modules");
/** Paths in it: headers, a canvas for PDF files, of which only the text is read, source maps, and further builds of the same. */
const UNUSED = [
  /^node-linux-[^/]+\/include$/,
  /^@napi-rs\/canvas-[^/]+$/,
  /\.(css|[cm]?[jt]s)\.map$/,
  // Its tables and fonts are read. The program is in `unpdf`.
  /^pdfjs-dist\/(build|iccs|image_decoders|legacy|types|wasm|web)$/,
  /^docx\/dist\/(?!index\.(mjs|d\.ts)).+$/,
  /^pdfkit\/(\.yarn|js\/pdfkit\.standalone\.js)$/,
  /^zod\/src$/,
  /^swagger-ui-dist\/swagger-ui-(es-bundle|standalone).*$/,
  /^dejavu-fonts-ttf\/ttf\/.*(Condensed|Serif).*$/,
];

if (existsSync(join(cwd, "packages/console/vite.config.ts"))) {
  removeUnused("");
  console.log("Builds the console, and tries the server.");
  const { status } = spawnSync("npm", ["run", "--silent", "console:build"], { cwd, stdio: "inherit" });
  if (status !== 0) console.error("The console is not built. Everything else works without it.");
}

// The cache is keyed by Node's flags: the same as those of `npm start`, "#! … node FLAGS".
const [command] = readFileSync(join(cwd, "bin/server.js"), "utf8").split("\n");
const args = [...command.split(" node ")[1].split(" "), "bin/start.js"];
const dir = mkdtempSync(join(tmpdir(), "sensorium-first-start-"));
const env = { PATH: process.env.PATH, HOST: "127.0.0.1", PORT: "0", DATA_DIR: dir };
const stdio = ["ignore", "pipe", "ignore"];
const child = spawn(process.execPath, args, { cwd, env, stdio, timeout: 30_000 });
child.stdout.on("data", (text) => text.includes("ready") && child.kill());
child.on("close", () => remove(dir));

function removeUnused(folder) {
  for (const entry of readdirSync(join(packages, folder), { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (UNUSED.some((pattern) => pattern.test(path))) remove(join(packages, path));
    else if (entry.isDirectory()) removeUnused(path);
  }
}

function remove(path) {
  rmSync(path, { recursive: true, force: true });
}
