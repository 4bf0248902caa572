import { valuesOf } from "../../../config.ts";
import { DAY_MS } from "../../../lib/time.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import type { EraseContent } from "../../../services/erasers.ts";
import { action, event, idempotent, internal, type ServiceFactory } from "../../../services/runtime.ts";
import { SETTINGS } from "../settings.ts";
import * as contract from "./a2a-tasks.contract.ts";
import { A2aTasks, type TaskChange, type TaskQuery } from "./a2a-tasks.ts";
import { Notifier } from "./notifier.ts";
import { PushConfigs } from "./push-configs.ts";
import type { MessageJson, OfConfig, OfTask, PushConfigJson, Side } from "./task.ts";

/** Interval for finding notifications that other nodes left, and retries. */
const LOOK_MS = 2000;
const RETENTION_MS = 10 * 60_000;

/** Tasks that callers give to agents over A2A, kept for `A2A_TASK_RETENTION_DAYS` once final. */
export const a2aTasksService: ServiceFactory = (runtime) => {
  let tasks: A2aTasks;
  let configs: PushConfigs;
  let notifier: Notifier;
  const loop = new SharedLoop("notifications", () => notifier.work(), LOOK_MS);

  const keptMs = valuesOf(runtime.config, SETTINGS).A2A_TASK_RETENTION_DAYS * DAY_MS;
  let removeFinal: () => Promise<boolean>;
  const retention = new SharedLoop("retention", async () => keptMs > 0 && removeFinal(), RETENTION_MS);

  const stop = () => notifier.stop();

  return {
    name: "a2a_tasks",
    mixins: [loop.mixin, retention.mixin],
    created() {
      tasks = new A2aTasks(runtime.store, this.broker);
      removeFinal = tasks.newRetention(() => runtime.store.now() - keptMs);
      configs = new PushConfigs(runtime, tasks);
      notifier = new Notifier(runtime, this.broker, () => loop.nudge());
    },
    actions: {
      get: action(contract.getA2aTask, (ctx) => tasks.get(ctx)),
      update: action(contract.updateA2aTask, (ctx) => tasks.update(ctx)),

      /** The caller's side. */
      send: internal<Side & { message: MessageJson; push?: Omit<PushConfigJson, "taskId"> }>(
        async ({ params: { message, push, ...side } }) => {
          if (push) await configs.check(side, push);
          const expect = push && ((taskId: string) => configs.create(side, { ...push, taskId }));
          return tasks.send(side, message, expect);
        },
      ),
      read: idempotent<OfTask>(({ params }) => tasks.read(params)),
      read_newer: idempotent<OfTask & { version: number }>(({ params }) => tasks.readNewer(params)),
      list: idempotent<TaskQuery>(({ params }) => tasks.list(params)),
      cancel: internal<OfTask>(({ params }) => tasks.cancel(params)),
      create_push: internal<Side & { config: PushConfigJson }>(({ params: { config, ...side } }) =>
        configs.create(side, config),
      ),
      get_push: idempotent<OfConfig>(({ params }) => configs.get(params)),
      list_push: idempotent<OfTask>(({ params }) => configs.list(params)),
      erase: idempotent<EraseContent>(({ params }) => tasks.erase(params)),
      delete_push: internal<OfConfig>(({ params }) => configs.delete(params)),
    },
    events: {
      "a2a_tasks.changed": event<TaskChange>(({ notify }) => notify && loop.nudge()),
      // Before the services that notifications need stop.
      "node.stopping": event(stop),
    },
    async started() {
      if (runtime.store.driver === "sqlite") await notifier.reclaim();
    },
    stopped: stop,
  };
};
