import { expect, test } from "@jest/globals";
import { page, readersFolder, runCommands } from "../support/guides.ts";
import { startMongo } from "../support/mongo.ts";
import { freePort } from "../support/ports.ts";
import type { TestServer } from "../support/server.ts";

/** What the commands of a guide need besides its record: `ends` what was started for them, the last first. */
type Place = { prelude: string; env: Record<string, string>; server?: TestServer };
type Prepare = (record: string, ends: AsyncDisposableStack) => Promise<Place> | Place;

/** Runs the commands of a guide that starts nodes of its own, with free ports in place of those that it names. */
export function guideTest(name: string, ports: string[], longestMs: number, prepare: Prepare): void {
  const run = async () => {
    const mongo = await startMongo();
    if ("skipped" in mongo) throw new Error(mongo.skipped);
    await using ends = new AsyncDisposableStack();
    ends.defer(mongo.stop);
    const { server, ...options } = await prepare(mongo.url, ends);
    const reader = readersFolder(server);
    ends.defer(reader.remove);
    let text = page(`docs/guides/${name}.md`);
    for (const port of ports) {
      expect(text).toContain(port);
      text = text.replaceAll(port, String(await freePort()));
    }
    await runCommands(text, reader.folder, { ...options, longestMs: longestMs - 20_000 });
  };
  test(`the commands of ${name}.md print what it shows`, run, longestMs);
}
