/** @needs rabbitmq: each kind of connector on one broker, and the commands of its guide. */
import { afterAll, describe, test } from "@jest/globals";
import rhea from "rhea";
import { Amqp10Connector } from "../../connectors/amqp10.ts";
import { Amqp091Connector } from "../../connectors/amqp091.ts";
import { connectorSuite } from "../suites/connector.ts";
import { queueAddress, sendOverAmqp10 } from "../support/amqp10.ts";
import { page, prelude, readersFolder, requiredSettings, runCommands } from "../support/guides.ts";
import { sendTo, startRabbit, type TestRabbit } from "../support/rabbitmq.ts";
import { startServer } from "../support/server.ts";

const started = await startRabbit({ managed: true });
const rabbit = started as TestRabbit;

("url" in started ? describe : describe.skip)("RabbitMQ", () => {
  afterAll(() => rabbit.stop());

  connectorSuite(rabbit, {
    name: "amqp091",
    make: Amqp091Connector,
    from: (queue) => queue,
    missing: /NOT.FOUND.*no queue 'nowhere'/,
    refused: ({ url }) => [[{ url: `${url}/nowhere` }, /vhost "nowhere"/]],
    tellsDepth: true,
    readsStreams: true,
    send: (rabbit, queue, message) => sendTo(rabbit, queue, [message]),
  });

  connectorSuite(rabbit, {
    ...{ name: "amqp10", make: Amqp10Connector, from: queueAddress, missing: /not-found/ },
    refused: () => [
      ...["/topic/orders", "/exchange/amq.topic/orders.*", "amq.topic", "/queue/orders"].map(
        (from): [{ from: string }, RegExp] => [{ from }, /loses messages .* use \/amq\/queue\/NAME/],
      ),
    ],
    tellsDepth: false,
    readsStreams: false,
    send: (rabbit, queue, { body, options }) =>
      sendOverAmqp10(rabbit, queue, {
        body: rhea.message.data_section(Buffer.from(JSON.stringify(body))),
        content_type: options.contentType as string,
        message_id: options.messageId as string,
        // A property's value is never a map (AMQP 1.0, 3.2.5).
        application_properties: { ...options.headers, nested: null },
      }),
  });

  test("the commands of brokers.md print what it shows", async () => {
    const guide = page("docs/guides/brokers.md");
    await using server = await startServer({ env: requiredSettings(guide) });
    const { folder, remove } = readersFolder(server);
    const text = guide
      .replace("amqp://guest:guest@127.0.0.1:5672", rabbit.url)
      .replace("http://guest:guest@127.0.0.1:15672/api", rabbit.manage);
    await runCommands(text, folder, { prelude: prelude() }).finally(remove);
  });
});
