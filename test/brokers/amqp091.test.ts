/** @needs rabbitmq */
import { Amqp091Connector } from "../../connectors/amqp091.ts";
import { connectorSuite } from "../suites/connector.ts";
import { sendTo, startRabbit } from "../support/rabbitmq.ts";

connectorSuite(await startRabbit(), {
  name: "amqp091",
  make: Amqp091Connector,
  from: (queue) => queue,
  missing: /NOT.FOUND.*no queue 'nowhere'/,
  refused: ({ url }) => [[{ url: `${url}/nowhere` }, /vhost "nowhere"/]],
  tellsDepth: true,
  readsStreams: true,
  send: (rabbit, queue, message) => sendTo(rabbit, queue, [message]),
});
