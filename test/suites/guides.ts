import { globSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  PATIENT,
  page,
  prelude,
  readersFolder,
  readmePage,
  requiredSettings,
  runCommands,
} from "../support/guides.ts";
import { onPath } from "../support/needs.ts";
import { freePort } from "../support/ports.ts";
import { startServer, type TestServer } from "../support/server.ts";

const ROOT = join(import.meta.dirname, "../..");
const INDEX = page("docs/guides/README.md");
/** The guides in the order of the table of contents. */
const GUIDES = [
  ...[...INDEX.matchAll(/^\| \[.+?\]\(([\w-]+\.md)\)/gm)].map(([, file]) => file as string),
  // Then those of extensions.
  ...globSync("extensions/*/README.md", { cwd: ROOT })
    .filter((name) => page(name).includes("```sh"))
    .sort(),
];
/**
 * Not on the one server: the filters are examples, which test/unit/filter-language.test.ts evaluates,
 * test/brokers/rabbitmq.test.ts has a broker, and the guides of the cluster, of moving and of an operator's day start
 * their own (cluster.test.ts and so on in test/guides).
 */
const ELSEWHERE = ["filters.md", "brokers.md", "cluster.md", "move.md", "operators-day.md"];
/** The programs that a guide's commands need beyond npm. */
const PROGRAMS: Record<string, string> = { "receive.md": "python3" };

const guide = (name: string) => page(name.includes("/") ? name : `docs/guides/${name}`);

/** Runs the commands of README.md and of all guides on one new server, sorted by `sort`. */
export function guidesSuite(order: string, sort: (pages: string[]) => string[]): void {
  describe(`on a new server, ${order},`, () => {
    let server: TestServer;
    let reader: ReturnType<typeof readersFolder>;

    beforeAll(async () => {
      server = await startServer({
        env: Object.assign({}, ...GUIDES.map((name) => requiredSettings(guide(name)))),
      });
      reader = readersFolder(server);
    });
    afterAll(async () => {
      reader?.remove();
      await server?.stop();
    });

    for (const name of sort(["README.md", ...GUIDES.filter((each) => !ELSEWHERE.includes(each))])) {
      const runIt = onPath(PROGRAMS[name] ?? "bash") ? test : test.skip;
      runIt(`the commands of ${name} print what it shows`, async () => {
        // The reader's own profiles, not those of the person who runs the tests.
        const env = { XDG_CONFIG_HOME: join(reader.folder, ".config") };
        if (name === "README.md") await runCommands(readmePage(), reader.folder, { prelude: PATIENT, env });
        else {
          const text = await toThisMachine(guide(name));
          await runCommands(text, reader.folder, { prelude: prelude(), env });
        }
      });
    }

    // test/http/nats-away.test.ts checks those of a cluster.
    test("the metrics of one node that operate.md names exist", async () => {
      const [ofOneNode = ""] = guide("operate.md").split("On a cluster, also:");
      const names = [...ofOneNode.matchAll(/sensorium_[a-z_]+/g)].map(([name]) => name);
      const metrics = await server.metrics();
      expect(names.length).toBeGreaterThan(5);
      expect(names.filter((name) => !metrics.includes(`\n# TYPE ${name} `))).toEqual([]);
    });
  });
}

/** With the addresses of the test's own receiver and second site. */
async function toThisMachine(text: string): Promise<string> {
  return text.replaceAll("8080", String(await freePort())).replaceAll("3101", String(await freePort()));
}
