import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, delimiter, join } from "node:path";

const REPOSITORY = "https://repo.maven.apache.org/maven2";
const CACHE = join(import.meta.dirname, "../../node_modules/.cache/afferent");

/** mongo-java-server and what it needs to run, with the SHA-256 of each. */
const JARS: Record<string, string> = {
  "de/bwaldvogel/mongo-java-server-core/1.47.0/mongo-java-server-core-1.47.0.jar":
    "9a34c9ad6ac6261906295481838256033ec1efc8c93a3e3828e5d47a006b0bd4",
  "de/bwaldvogel/mongo-java-server-memory-backend/1.47.0/mongo-java-server-memory-backend-1.47.0.jar":
    "82864f8a2ede1514f64c2cd3a70e8022c259eb3d78975cfa208c1668ac1f12bb",
  "io/netty/netty-buffer/4.2.2.Final/netty-buffer-4.2.2.Final.jar":
    "4820eeb2d3db269b20b30711e3d7d21979664249aaf10fc67f90dee935810747",
  "io/netty/netty-codec-base/4.2.2.Final/netty-codec-base-4.2.2.Final.jar":
    "76987614ccb2fda7d3292b69ba5b61351f30e91bf5c7d8fa4b51bc32c9f67456",
  "io/netty/netty-common/4.2.2.Final/netty-common-4.2.2.Final.jar":
    "5d022f3acad74cb0f195f60213500a4000d1340e5e941edaf1a0e756686b9bae",
  "io/netty/netty-handler/4.2.2.Final/netty-handler-4.2.2.Final.jar":
    "d4ef582c78125457baa0cfa52992b5fb1bb9172d1a2c03b726e8b26e17d3fe2c",
  "io/netty/netty-resolver/4.2.2.Final/netty-resolver-4.2.2.Final.jar":
    "fa7841ffe2e39d52251814fb8560d6936b10ae7c67453ee50426b83fd5170ba0",
  "io/netty/netty-transport/4.2.2.Final/netty-transport-4.2.2.Final.jar":
    "116d766a1af4722fe76a4cdaed969644985d44e08ec1337d2dbab697dd109603",
  "io/netty/netty-transport-native-unix-common/4.2.2.Final/netty-transport-native-unix-common-4.2.2.Final.jar":
    "aa8821a7ea2ca47f62740bd1f37d67deb97824cc77e76dde6ae2c439a923fc9d",
  "org/slf4j/slf4j-api/2.0.17/slf4j-api-2.0.17.jar":
    "7b751d952061954d5abfed7181c1f645d336091b679891591d63329c622eb832",
};

/** The repository could not be reached; anything else that goes wrong is an error of its own. */
export class JarsUnavailable extends Error {}

/**
 * Downloads the jars that are not there yet and returns the Java class path over all of them.
 *
 * @throws JarsUnavailable when Maven Central does not answer; Error when a file is not the one expected.
 */
export async function mongoClassPath(): Promise<string> {
  await mkdir(CACHE, { recursive: true });
  const files = await Promise.all(Object.entries(JARS).map(([path, sha256]) => fetchJar(path, sha256)));
  return files.join(delimiter);
}

async function fetchJar(path: string, sha256: string): Promise<string> {
  const file = join(CACHE, basename(path));
  if (existsSync(file) && sha256Of(await readFile(file)) === sha256) return file;
  const bytes = await download(`${REPOSITORY}/${path}`);
  const found = sha256Of(bytes);
  if (found !== sha256) throw new Error(`${REPOSITORY}/${path} has SHA-256 ${found}, expected ${sha256}`);
  // Written aside and renamed, because several test processes may fetch at the same time.
  const aside = `${file}.${process.pid}`;
  await writeFile(aside, bytes);
  await rename(aside, file);
  return file;
}

async function download(url: string): Promise<Buffer> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(60_000) });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return Buffer.from(await response.arrayBuffer());
  } catch (error) {
    const { message, cause } = error as Error;
    throw new JarsUnavailable(
      `${url} cannot be fetched: ${cause instanceof Error ? cause.message : message}`,
    );
  }
}

function sha256Of(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
