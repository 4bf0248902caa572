import { action, idempotent, internal, type ServiceFactory } from "../../runtime.ts";
import * as contract from "./a2a-tasks.contract.ts";
import { A2aTasks } from "./a2a-tasks.ts";
import type { TaskQuery } from "./list.ts";
import type { MessageJson, Side } from "./task.ts";

type OfTask = Side & { task_id: string };

/** Tasks that callers give to agents over A2A (services/edge/a2a), durable until the tenant is deleted. */
export const a2aTasksService: ServiceFactory = ({ store }) => {
  let tasks: A2aTasks;

  return {
    name: "a2a_tasks",
    created() {
      tasks = new A2aTasks(store, this.broker);
    },
    actions: {
      get: action(contract.getA2aTask, (ctx) => tasks.get(ctx)),
      update: action(contract.updateA2aTask, (ctx) => tasks.update(ctx)),

      /** The caller's side. */
      send: internal<Side & { message: MessageJson }>(({ params }) => tasks.send(params)),
      read: idempotent<OfTask>(({ params }) => tasks.read(params)),
      list: idempotent<TaskQuery>(({ params }) => tasks.list(params)),
      cancel: internal<OfTask>(({ params }) => tasks.cancel(params)),
    },
  };
};
