import type { Extension } from "../../services/extensions.ts";

export const extension: Extension = {
  about: "Receives messages of brokers by AMQP 0-9-1 and AMQP 1.0.",
  run: async () => ({
    hooks: () => ({
      connectors: {
        amqp091: async () => (await import("./amqp091.ts")).Amqp091Connector,
        amqp10: async () => (await import("./amqp10.ts")).Amqp10Connector,
      },
    }),
  }),
};
