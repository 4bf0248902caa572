/**
 * Prints `mongod PATH`: of the one that was downloaded into the folder given, or is now. Ends with 1 and why on standard
 * error where MongoDB's host cannot be reached, or does not give it. A program of its own, so that it can be stopped.
 */
import { DryMongoBinary, MongoBinary } from "mongodb-memory-server-core";
import { MongoBinaryDownloadUrl } from "mongodb-memory-server-core/lib/util/MongoBinaryDownloadUrl.js";

const VERSION = "7.0.28";
const PROBE_MS = 3000;

const [downloadDir = ""] = process.argv.slice(2);
const options = await DryMongoBinary.generateOptions({ version: VERSION, downloadDir });
try {
  if (!(await DryMongoBinary.locateBinary(options))) await probe();
  console.log(`mongod ${await MongoBinary.getPath({ version: VERSION, downloadDir })}`);
} catch (err) {
  console.error((err as Error).message);
  process.exit(1);
}

/** Fails soon where the library would try for minutes. */
async function probe(): Promise<void> {
  const { version, arch, os } = options;
  const url = await new MongoBinaryDownloadUrl({
    version,
    arch,
    os,
    platform: process.platform,
  }).getDownloadUrl();
  const { status } = await fetch(url, { method: "HEAD", signal: AbortSignal.timeout(PROBE_MS) }).catch(
    (err) => {
      throw new Error(`${new URL(url).host} cannot be reached: ${err.cause?.message || err.message}`);
    },
  );
  if (status !== 200) throw new Error(`${url} answers ${status}`);
}
