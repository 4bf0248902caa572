import { expect, test } from "@jest/globals";
import { settle } from "../support/settle.ts";
import { useServer } from "../support/use.ts";
import { words } from "../support/words.ts";

const LARGE = 100_000;

/** Packages that every node needs from the first request on, with their dependencies. */
const LARGE_AT_START = words`
  @marcbachmann/cel-js ajv bson glob lodash mime-db moleculer mongodb mongoose re2js tr46 typebox`;

const hook = new URL("../support/loaded.mjs", import.meta.url);
const server = await useServer({ env: { EMBEDDER: "none", NODE_OPTIONS: `--import ${hook}` } });
process.kill(server.pid(), "SIGUSR2");
/** Bytes of source by package; threads by their first module. */
const loaded: { packages: Record<string, number>; threads: string[] } = JSON.parse(
  await settle(() => /^loaded: (.*)\n/m.exec(server.logs())?.[1]),
);

test("a start loads no large package that can wait (docs/decisions/0019-memory-at-rest.md)", () => {
  const large = Object.entries(loaded.packages).filter(([, bytes]) => bytes >= LARGE);
  expect(large.map(([name]) => name).sort()).toEqual(LARGE_AT_START);
});

test("a start without a collector or an identity provider loads no library for them", () =>
  expect(
    Object.keys(loaded.packages).filter((name) => /opentelemetry|openid|jose|oauth4webapi/.test(name)),
  ).toEqual([]));

test("a start on an empty store starts no threads but the store's", () =>
  expect(loaded.threads).toEqual(["reader.ts", "writer.ts"]));
