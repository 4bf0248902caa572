/** @needs rabbitmq: the commands of docs/guides/brokers.md. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { blocksOf, page, prelude, readersFolder, unseen } from "../support/guides.ts";
import { startRabbit } from "../support/rabbitmq.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { shell } from "../support/shell.ts";

const rabbit = await startRabbit({ managed: true });
const guide = page("docs/guides/brokers.md");

("skipped" in rabbit ? describe.skip : describe)("the guide to brokers", () => {
  let server: TestServer;
  let reader: ReturnType<typeof readersFolder>;

  beforeAll(async () => {
    server = await startServer({ env: { CONNECTOR_ALLOW_PRIVATE: "true" } });
    reader = readersFolder(server);
  });
  afterAll(async () => {
    reader?.remove();
    await server?.stop();
    if (!("skipped" in rabbit)) await rabbit.stop();
  });

  test("its commands lead from a queue to a delivery", async () => {
    const { url, manage } = rabbit as Exclude<typeof rabbit, { skipped: string }>;
    const own = guide
      .replace("amqp://guest:guest@127.0.0.1:5672", url)
      .replace("http://guest:guest@127.0.0.1:15672/api", manage);
    const { code, output } = await shell(prelude() + blocksOf(own).join(""), { cwd: reader.folder });
    if (code !== 0) throw new Error(`exit code ${code}, after:\n${output}`);
    expect({ unseen: unseen(guide, output), output }).toEqual({ unseen: [], output });
  });
});
