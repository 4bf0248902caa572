/** Commands of `sensorium-server` about the folder of the embedded store: `backup`, `restore`, `check` and `salvage`. */
import { ConfigError } from "../config.ts";
import { readAllSettings } from "../services/extensions.ts";
import { backUp, restore } from "../storage/backup.ts";
import { DirectoryError } from "../storage/data-directory.ts";
import type { Report } from "../storage/salvage.ts";

interface Command {
  /** The name of its argument. */
  takes?: string;
  run(dataDir: string, path: string): Promise<string>;
}

const COMMANDS: Record<string, Command> = {
  backup: {
    takes: "FILE",
    async run(dataDir, file) {
      await backUp(dataDir, file);
      return `${dataDir} is backed up in ${file}. It holds secrets: only its owner may read it.`;
    },
  },
  restore: {
    takes: "FILE",
    async run(dataDir, file) {
      await restore(file, dataDir);
      return `${file} is restored into ${dataDir}.`;
    },
  },
  check: {
    async run(dataDir) {
      const { check, models } = await loadSalvage();
      const report = await check(dataDir, models);
      if (!isWhole(report)) process.exitCode = 1;
      return describe(report, "readable");
    },
  },
  salvage: {
    takes: "NEW_DIR",
    async run(dataDir, to) {
      const { salvage, models } = await loadSalvage();
      const report = await salvage(dataDir, to, models);
      return `${describe(report, "copied")}\n${dataDir} is copied into ${to}, as far as it is readable. Start with DATA_DIR=${to}.`;
    },
  },
};

/** The models are all modules of the services: loaded only where they are needed. */
async function loadSalvage() {
  const [functions, { MODELS }] = await Promise.all([
    import("../storage/salvage.ts"),
    import("../services/models.ts"),
  ]);
  return { ...functions, models: MODELS };
}

function isWhole({ problems, collections, blobs }: Report): boolean {
  return !problems.length && !blobs.lost && collections.every(({ lost }) => lost === 0);
}

function describe({ problems, collections, blobs }: Report, read: string): string {
  const kinds = [...collections, { name: "blobs", ...blobs }].filter((kind) => kind.read || kind.lost !== 0);
  const width = Math.max(...kinds.map(({ name }) => name.length), 0);
  const lines = kinds.map(({ name, read: count, lost }) => {
    const others = lost === null ? ", an unknown number lost" : lost ? `, ${lost} lost` : "";
    return `${name.padEnd(width)}  ${count} ${read}${others}`;
  });
  const report = problems.length
    ? problems.map((problem) => `Damaged: ${problem}`)
    : ["The database is whole."];
  return [...lines, ...report].join("\n");
}

async function main([name = "", path = "", ...more]: string[]): Promise<string> {
  const command = COMMANDS[name];
  const { takes } = command ?? {};
  // An argument that looks like an option, such as --help, is not meant as a path.
  if (!command || more.length || path.startsWith("-") || Boolean(path) !== Boolean(takes))
    throw new DirectoryError(usageOf(name, takes));
  const { DATA_DIR, MONGO_URL } = readAllSettings();
  if (MONGO_URL) {
    throw new DirectoryError(
      "The data is in MongoDB (MONGO_URL). Use mongodump, mongorestore and its command validate, and keep SECRET_KEY.",
    );
  }
  return command.run(DATA_DIR, path);
}

function usageOf(name: string, takes?: string): string {
  const [words, after] = takes ? [`${name} ${takes}`, ` -- ${takes}`] : [name, ""];
  return `Usage: sensorium-server ${words}; in a checkout npm run ${name}${after}`;
}

try {
  console.log(await main(process.argv.slice(2)));
} catch (err) {
  const expected = err instanceof DirectoryError || err instanceof ConfigError;
  console.error(expected ? err.message : err);
  process.exitCode = 1;
}
