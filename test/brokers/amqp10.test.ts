/** @needs rabbitmq */
import rhea from "rhea";
import { Amqp10Connector } from "../../connectors/amqp10.ts";
import { connectorSuite } from "../suites/connector.ts";
import { queueAddress, sendOverAmqp10 } from "../support/amqp10.ts";
import { startRabbit } from "../support/rabbitmq.ts";

connectorSuite(await startRabbit(), {
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
