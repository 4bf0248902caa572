/**
 * Downloads mongod into the given folder, unless it is there, and prints `mongod PATH`. Exits with 1 and the reason on
 * standard error if MongoDB's host is unreachable or does not have it. A separate program, so that it can be stopped.
 */
import { DryMongoBinary, MongoBinary } from "mongodb-memory-server-core";
import { MongoBinaryDownloadUrl } from "mongodb-memory-server-core/lib/util/MongoBinaryDownloadUrl.js";

const VERSION = "7.0.28";
const PROBE_MS = 3000;

const [downloadDir = ""] = process.argv.slice(2);
const options = await DryMongoBinary.generateOptions({ version: VERSION, downloadDir });
try {
  if (!(await DryMongoBinary.locateBinary(options))) {
    if (process.env.TEST_INSTALL === "0") throw new Error("TEST_INSTALL is 0");
    await probe();
  }
  console.log(`mongod ${await MongoBinary.getPath({ version: VERSION, downloadDir })}`);
} catch (err) {
  console.error((err as Error).message);
  process.exit(1);
}

/** Fails soon where the library would try for minutes. */
async function probe(): Promise<void> {
  const { version, arch, os } = options;
  const url = await new MongoBinaryDownloadUrl({
    ...{ version, arch, os, platform: process.platform },
  }).getDownloadUrl();
  const { status } = await fetch(url, { method: "HEAD", signal: AbortSignal.timeout(PROBE_MS) }).catch(
    (err) => {
      throw new Error(`${new URL(url).host} cannot be reached: ${err.cause?.message || err.message}`);
    },
  );
  if (status !== 200) throw new Error(`${url} answers ${status}`);
}
