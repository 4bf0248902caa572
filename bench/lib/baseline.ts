/** The baseline: a stock moleculer-web gateway with one POST route to an action that does nothing. No log, no auth. */
import type { AddressInfo } from "node:net";
import { ServiceBroker, type ServiceSchema } from "moleculer";
import ApiGateway from "moleculer-web";

const broker = new ServiceBroker({ logger: false });
broker.createService({ name: "noop", actions: { run: () => ({ status: "accepted" }) } });
const gateway = broker.createService({
  name: "api",
  mixins: [ApiGateway as unknown as ServiceSchema],
  settings: {
    port: 0,
    ip: "127.0.0.1",
    routes: [
      { path: "/", aliases: { "POST /events": "noop.run" }, bodyParsers: { json: true }, logging: false },
    ],
    logRequest: null,
    logRequestParams: null,
    logResponse: null,
  } as never,
});
await broker.start();
const { port } = (gateway as unknown as { server: { address(): AddressInfo } }).server.address();
process.stdout.write(`Listening on http://127.0.0.1:${port}\n`);
process.on("SIGTERM", () => broker.stop().then(() => process.exit(0)));
