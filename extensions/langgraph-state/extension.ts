import type { Extension } from "../../services/extensions.ts";
import * as contract from "./state.contract.ts";
import { StateModel } from "./state.model.ts";

/** Values that programs around agents, such as LangGraph's checkpointer, must find again exactly, under keys. */
export const extension: Extension = {
  about: "Keeps the checkpoints of LangGraph and the sessions of OpenAI Agents.",
  contracts: [contract],
  models: [StateModel],
  domains: {
    state: "Texts that an agent keeps under keys, such as checkpoints: private, and in no search.",
  },
  preset: "remember",
  run: async () => {
    const { stateService } = await import("./state.service.ts");
    return { services: { state: stateService } };
  },
};
