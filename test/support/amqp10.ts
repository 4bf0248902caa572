import rhea, { type Message } from "rhea";
import type { TestRabbit } from "./rabbitmq.ts";

/** The address of a queue of RabbitMQ. */
export function queueAddress(queue: string): string {
  return `/amq/queue/${queue}`;
}

/** Sends one message to a queue of RabbitMQ. Resolves when the broker has accepted it. */
export async function sendOverAmqp10(
  { port, user, password }: TestRabbit,
  queue: string,
  message: Message,
): Promise<void> {
  const options = { host: "127.0.0.1", port, username: user, password, reconnect: false };
  const connection = rhea.create_container().connect(options);
  const sender = connection.open_sender(queueAddress(queue));
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
