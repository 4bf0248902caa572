import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { runTool } from "./tools.ts";

const POM = join(import.meta.dirname, "mongo-stand-in.pom.xml");
const CACHE = join(import.meta.dirname, "../../node_modules/.cache/sensorium");

/** mongo-java-server and what it needs to run, with the SHA-256 of each. */
const JARS: Record<string, string> = {
  "mongo-java-server-core-1.47.0.jar": "9a34c9ad6ac6261906295481838256033ec1efc8c93a3e3828e5d47a006b0bd4",
  "mongo-java-server-memory-backend-1.47.0.jar":
    "82864f8a2ede1514f64c2cd3a70e8022c259eb3d78975cfa208c1668ac1f12bb",
  "netty-buffer-4.2.2.Final.jar": "4820eeb2d3db269b20b30711e3d7d21979664249aaf10fc67f90dee935810747",
  "netty-codec-base-4.2.2.Final.jar": "76987614ccb2fda7d3292b69ba5b61351f30e91bf5c7d8fa4b51bc32c9f67456",
  "netty-common-4.2.2.Final.jar": "5d022f3acad74cb0f195f60213500a4000d1340e5e941edaf1a0e756686b9bae",
  "netty-handler-4.2.2.Final.jar": "d4ef582c78125457baa0cfa52992b5fb1bb9172d1a2c03b726e8b26e17d3fe2c",
  "netty-resolver-4.2.2.Final.jar": "fa7841ffe2e39d52251814fb8560d6936b10ae7c67453ee50426b83fd5170ba0",
  "netty-transport-4.2.2.Final.jar": "116d766a1af4722fe76a4cdaed969644985d44e08ec1337d2dbab697dd109603",
  "netty-transport-native-unix-common-4.2.2.Final.jar":
    "aa8821a7ea2ca47f62740bd1f37d67deb97824cc77e76dde6ae2c439a923fc9d",
  "slf4j-api-2.0.17.jar": "7b751d952061954d5abfed7181c1f645d336091b679891591d63329c622eb832",
};

export const hasJars = () => Object.keys(JARS).every((name) => existsSync(join(CACHE, name)));

/**
 * Has Maven fetch missing jars and returns the Java class path of all of them.
 *
 * @throws ToolsUnavailable when Maven cannot get them; Error when a file is not the one expected.
 */
export async function mongoClassPath(): Promise<string> {
  const files = Object.keys(JARS).map((name) => join(CACHE, name));
  if (!hasJars()) await fetchJars();
  for (const [name, sha256] of Object.entries(JARS)) {
    const found = sha256Of(await readFile(join(CACHE, name)));
    if (found !== sha256) throw new Error(`${join(CACHE, name)} has SHA-256 ${found}, expected ${sha256}`);
  }
  return files.join(delimiter);
}

async function fetchJars(): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";
  await runTool("mvn", ["-q", "-B", "-f", POM, goal, `-DoutputDirectory=${CACHE}`]);
}

function sha256Of(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
