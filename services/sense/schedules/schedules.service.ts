import type { Context, ServiceBroker } from "moleculer";
import { DAY_MS, HOUR_MS } from "../../../lib/time.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import { eraseTexts } from "../../../storage/erase-texts.ts";
import type { EraseContent } from "../../erasers.ts";
import { action, idempotent, type ServiceFactory } from "../../runtime.ts";
import * as contract from "./schedules.contract.ts";
import { ScheduleModel } from "./schedules.model.ts";
import { Schedules } from "./schedules.ts";
import { TICK_MS, Ticker } from "./ticker.ts";

const ENDED_DAYS = 30;

export const schedulesService: ServiceFactory = (runtime) => {
  const { store, usage, modes } = runtime;
  const rows = store.collection(ScheduleModel);
  let ticker: Ticker;
  let schedules: Schedules;
  // What is due during maintenance is late, as after a standstill.
  const run = async () => (modes.isMaintenance ? false : ticker.run());
  const ticks = new SharedLoop("ticks", run, TICK_MS);
  const ended = new SharedLoop("ended", deleteEnded, HOUR_MS);

  /** Deletes schedules that ended long ago; returns whether there may be more. */
  function deleteEnded(): Promise<boolean> {
    return rows.deleteDue({ ended_at: { $lt: new Date(store.now() - ENDED_DAYS * DAY_MS) } });
  }

  return {
    name: "schedules",
    mixins: [ticks.mixin, ended.mixin],
    events: {
      /** A tick is due soon. */
      "schedules.due": ({ params: { due } }: Context<{ due: number }>) => {
        if (ticks.isOwn) ticks.within(due - store.now());
      },
    },
    actions: {
      create: action(contract.createSchedule, (ctx) => schedules.create(ctx)),
      list: action(contract.listSchedules, (ctx) => schedules.list(ctx)),
      get: action(contract.getSchedule, (ctx) => schedules.get(ctx)),
      update: action(contract.updateSchedule, (ctx) => schedules.update(ctx)),
      delete: action(contract.deleteSchedule, (ctx) => schedules.delete(ctx)),
      run: action(contract.runSchedule, (ctx) => schedules.run(ctx)),
      test: action(contract.testSchedule, (ctx) => schedules.test(ctx)),

      /** Erases, or counts, schedules of an agent, about a person, or that mention memories. */
      erase: idempotent<EraseContent>(async ({ params: { agent_id: owner_id, ...given } }) => {
        const { tenant_id, dry_run } = given;
        if (owner_id === undefined)
          return { schedules: (await eraseTexts(rows, ["event", "content"], given)).length };
        const count = dry_run
          ? rows.count(tenant_id, { owner_id })
          : rows.deleteMany(tenant_id, { owner_id });
        return { schedules: await count };
      }),
    },

    created() {
      ticker = new Ticker({ rows, store, usage, broker: this.broker as ServiceBroker });
      schedules = new Schedules(runtime, rows, ticker);
    },
  };
};
