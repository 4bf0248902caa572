import type { Extension } from "../../services/extensions.ts";
import * as protocol from "./a2a.contract.ts";
import { SETTINGS } from "./settings.ts";
import * as tasks from "./tasks/a2a-tasks.contract.ts";
import { A2aTaskModel } from "./tasks/a2a-tasks.model.ts";
import { PushConfigModel } from "./tasks/push-configs.model.ts";

/** Agent2Agent: other agents find an agent, call it and follow its tasks. */
export const extension: Extension = {
  about: "Agents that other agents find and call over the Agent2Agent protocol.",
  contracts: [protocol, tasks],
  models: [A2aTaskModel, PushConfigModel],
  settings: SETTINGS,
  domains: {
    a2a: "Agents that other agents find and call over the Agent2Agent protocol.",
    a2a_tasks: "Tasks that came over the Agent2Agent protocol, for the agent that works on them.",
  },
  events: tasks.A2A_EVENTS,
  llms: "**Agent2Agent**: the card of an agent is at `/a2a/{agent_id}/.well-known/agent-card.json`; `/.well-known/ai-catalog.json` lists those of your organisation.",
  run: async () => {
    const { a2aService } = await import("./a2a.service.ts");
    const { a2aTasksService } = await import("./tasks/a2a-tasks.service.ts");
    return { services: { gateway: a2aService, a2a_tasks: a2aTasksService } };
  },
};
