import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { startChild } from "./child.ts";

const FETCH = join(import.meta.dirname, "fetch-mongod.ts");
const CACHE = join(import.meta.dirname, "../../node_modules/.cache/sensorium");
/** A download that brings nothing for so long is given up. */
const SILENT_MS = 30_000;
/** Passes the result of the first download to the test files that this process starts. */
const KNOWN = "SENSORIUM_TEST_MONGOD";

/**
 * A real mongod, of a version that is pinned: the one that was downloaded before, else downloaded now, once, where
 * MongoDB's host can be reached.
 *
 * @param say reports the progress of the download
 */
export async function fetchMongod(
  say: (line: string) => void = () => {},
): Promise<{ path: string } | { why: string }> {
  const known = process.env[KNOWN];
  const found = known ? JSON.parse(known) : await download(say);
  process.env[KNOWN] = JSON.stringify(found);
  return found;
}

/** Whether one was downloaded before. */
export const hasMongod = async () => "path" in (await download(() => {}, { TEST_INSTALL: "0" }));

async function download(
  say: (line: string) => void,
  env: Record<string, string> = {},
): Promise<{ path: string } | { why: string }> {
  // The library verifies certificates only if npm is configured to.
  const settings = { ...process.env, npm_config_strict_ssl: "true", MONGOMS_MAX_RETRIES: "1", ...env };
  const fetching = await startChild(process.execPath, [FETCH, CACHE], { env: settings });
  const why = await watched(fetching, say);
  const [, path] = /^mongod (.+)$/m.exec(fetching.output()) ?? [];
  if (!path) return { why: why ?? lastLine(fetching.output()) };
  try {
    await promisify(execFile)(path, ["--version"]);
    return { path };
  } catch (err) {
    const { stderr, message } = err as { stderr?: string; message: string };
    return { why: `the mongod that was downloaded does not run: ${lastLine(stderr || message)}` };
  }
}

/** Until it has ended; why it was ended, where it was. */
async function watched(
  fetching: Awaited<ReturnType<typeof startChild>>,
  say: (line: string) => void,
): Promise<string | undefined> {
  let told = "";
  for (;;) {
    let timer: NodeJS.Timeout | undefined;
    const silent = new Promise((resolve) => {
      timer = setTimeout(resolve, SILENT_MS);
    });
    const over = fetching.exited.then(() => true);
    const ended = await Promise.race([over, silent]);
    clearTimeout(timer);
    const all = fetching.output();
    if (ended) return undefined;
    if (all === told) {
      await fetching.end("SIGKILL");
      return `the download brought nothing for ${SILENT_MS / 1000} s`;
    }
    say(lastLine(all));
    told = all;
  }
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}
