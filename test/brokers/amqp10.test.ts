/** @needs rabbitmq */
import rhea, { type Message } from "rhea";
import { Amqp10Connector } from "../../connectors/amqp10.ts";
import { connectorSuite } from "../suites/connector.ts";
import { startRabbit, type TestRabbit } from "../support/rabbitmq.ts";

connectorSuite(await startRabbit(), {
  name: "amqp10",
  make: Amqp10Connector,
  from: addressOf,
  missing: /not-found/,
  tellsDepth: false,
  send: (rabbit, queue, { body, options }) =>
    sendOverAmqp10(rabbit, queue, {
      body: rhea.message.data_section(Buffer.from(JSON.stringify(body))),
      content_type: options.contentType as string,
      message_id: options.messageId as string,
      // A property's value is never a map (AMQP 1.0, 3.2.5).
      application_properties: { ...options.headers, nested: null },
    }),
});

function addressOf(queue: string): string {
  return `/amq/queue/${queue}`;
}

/** Resolves when the broker has accepted it. */
async function sendOverAmqp10(
  { port, user, password }: TestRabbit,
  queue: string,
  message: Message,
): Promise<void> {
  const options = { host: "127.0.0.1", port, username: user, password, reconnect: false };
  const connection = rhea.create_container().connect(options);
  const sender = connection.open_sender(addressOf(queue));
  sender.once("sendable", () => sender.send(message));
  await new Promise((resolve, reject) => {
    sender.once("accepted", resolve);
    connection.once("disconnected", reject);
  });
  await new Promise((resolve) => {
    connection.once("connection_close", resolve);
    connection.close();
  });
}
