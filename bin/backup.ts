/** `npm run backup -- FILE` and `npm run restore -- FILE`. */
import { ConfigError } from "../config.ts";
import { readAllSettings } from "../services/extensions.ts";
import { BackupError, backUp, restore } from "../storage/backup.ts";

const USAGE =
  "Usage: sensorium-server backup FILE, or restore FILE; in a checkout npm run backup -- FILE, or npm run restore -- FILE";

async function main([command, file, ...more]: string[]): Promise<string> {
  // An argument that looks like an option, such as --help, is not meant as a file.
  if (!file || more.length || file.startsWith("-")) throw new BackupError(USAGE);
  const { DATA_DIR, MONGO_URL } = readAllSettings();
  if (MONGO_URL) {
    throw new BackupError(
      "The data is in MongoDB (MONGO_URL). Use mongodump and mongorestore, and keep SECRET_KEY.",
    );
  }
  if (command === "create") {
    await backUp(DATA_DIR, file);
    return `${DATA_DIR} is backed up in ${file}. It holds secrets: only its owner may read it.`;
  }
  if (command === "restore") {
    await restore(file, DATA_DIR);
    return `${file} is restored into ${DATA_DIR}.`;
  }
  throw new BackupError(USAGE);
}

try {
  console.log(await main(process.argv.slice(2)));
} catch (err) {
  const expected = err instanceof BackupError || err instanceof ConfigError;
  console.error(expected ? err.message : err);
  process.exitCode = 1;
}
