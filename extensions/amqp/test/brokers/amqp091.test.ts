/** @needs rabbitmq */

import { connectorSuite } from "../../../../test/suites/connector.ts";
import { sendTo, startRabbit } from "../../../../test/support/rabbitmq.ts";
import { Amqp091Connector } from "../../amqp091.ts";

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
