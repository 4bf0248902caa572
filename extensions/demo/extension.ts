import type { Extension } from "../../services/extensions.ts";
import * as contract from "./demo.contract.ts";

export const extension: Extension = {
  about: "Fills a separate organisation with a small example to look at, and removes it.",
  contracts: [contract],
  domains: { demo: "A demonstration: a separate organisation, with a small example of everything." },
  run: async () => {
    const { demoService } = await import("./demo.service.ts");
    return { services: { demo: demoService } };
  },
};
