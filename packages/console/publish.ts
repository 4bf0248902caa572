import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const PAGE = "index.html";
/** File types worth compressing; the page itself is small. */
const TEXT = /\.(js|css|svg)$/;
const SMALL_BYTES = 1024;
/** Nearly as small as the best, in a tenth of its time. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
/** Vite gives all files of one build the same time; earlier versions were seconds apart. */
const TOLERANCE_MS = 60_000;

/**
 * Replaces the served build while it is in use: first the assets, then the page. Keeps the previous build's files for
 * open pages and deletes older ones.
 */
export function publish(built: string, served: string): void {
  const files = filesIn(built);
  if (!files.includes(PAGE)) throw new Error(`${built} holds no ${PAGE}`);
  const before = statSync(join(served, PAGE), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const now = new Date();
  const written = files.filter((file) => TEXT.test(file)).flatMap((file) => compress(join(built, file)));
  files.push(...written.map((file) => relative(built, file)));
  for (const file of [...files.filter((each) => each !== PAGE), PAGE]) {
    utimesSync(join(built, file), now, now);
    mkdirSync(dirname(join(served, file)), { recursive: true });
    renameSync(join(built, file), join(served, file));
  }
  rmSync(built, { recursive: true });
  for (const file of filesIn(join(served, "assets"))) {
    const path = join(served, "assets", file);
    if (statSync(path).mtimeMs < before - TOLERANCE_MS) rmSync(path);
  }
}

/** Writes compressed copies of a text file next to it; returns the files written. */
function compress(file: string): string[] {
  const text = readFileSync(file);
  if (text.length < SMALL_BYTES) return [];
  writeFileSync(`${file}.br`, brotliCompressSync(text, BROTLI));
  writeFileSync(`${file}.gz`, gzipSync(text, { level: constants.Z_BEST_COMPRESSION }));
  return [`${file}.br`, `${file}.gz`];
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return entries.filter((entry) => statSync(join(folder, entry)).isFile());
}
