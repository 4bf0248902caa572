import type { ActionSchema } from "moleculer";
import { action } from "../../runtime.ts";
import { discardDead, listDead } from "./dead-letters.ts";
import * as contract from "./deliveries.contract.ts";
import type { Parts } from "./parts.ts";

/** Actions of callers on dead letters. */
export function deadLetterActions(parts: () => Parts): Record<string, ActionSchema> {
  return {
    dead_letters: action(contract.listDeadLetters, ({ params, meta }) => {
      const { broker, deliveries } = parts();
      return listDead(broker, deliveries, meta.caller, params);
    }),

    replay: action(contract.replayOne, async ({ params: { id, dry_run }, meta }) => {
      const { replays, loops } = parts();
      const answer = await replays.requestOne(meta.caller, id, dry_run);
      loops.replays.nudge();
      return answer;
    }),

    replay_many: action(contract.replayMany, async ({ params, meta }) => {
      const { replays, loops } = parts();
      const answer = await replays.requestMany(meta.caller, params);
      loops.replays.nudge();
      return answer;
    }),

    discard: action(contract.discard, ({ params: { id }, meta }) => {
      const { deliveries, now } = parts();
      return discardDead(deliveries, meta.caller, id, now());
    }),
  };
}
