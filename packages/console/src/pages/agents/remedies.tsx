import type { Agent, DeliveryHealth } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { number, plural } from "../../data/format.ts";
import { useTask } from "../../data/use-task.ts";
import { useSession } from "../../shell/session.tsx";
import { Button } from "../../ui/button.tsx";
import { confirm } from "../../ui/confirm.tsx";
import { RotateCw, Trash2 } from "../../ui/icons.tsx";
import { toast } from "../../ui/toast.tsx";

interface Props {
  agent: Agent;
  health: DeliveryHealth;
  onDone(): Promise<void>;
}

/** What a person can do with an agent's queue: replay its dead letters, discard what waits. */
export function Remedies({ agent, health, onDone }: Props) {
  const { may } = useSession();
  const waits = health.pending - health.in_flight;
  const replay = useTask(async () => {
    const sure = await confirm({
      title: `Replay ${plural(health.dead, "dead letter")} of ${agent.name}?`,
      text: "They are matched against interests and feeds again. If the agent still matches, it gets them with a new retry budget; matching agents that never received an event get it too.",
      action: `Replay ${number(health.dead)}`,
      danger: false,
    });
    if (!sure) return;
    const replayed = await replayAll(agent.id);
    toast({ title: `${plural(replayed, "dead letter")} replayed.` });
    await onDone();
  });
  const drain = useTask(async () => {
    const sure = await confirm({
      title: `Discard ${pending(waits)}?`,
      text: `${agent.name} will never receive them, also not by a replay. ${kept(health)} This cannot be undone.`,
      action: `Discard ${number(waits)}`,
    });
    if (!sure) return;
    const discarded = await drainAll(agent.id);
    toast({ title: `${pending(discarded)} discarded.` });
    await onDone();
  });
  return (
    <div className="row">
      {health.dead > 0 && may("deliveries.replayMany") && (
        <Button icon={RotateCw} busy={replay.busy} onClick={() => replay.run()}>
          Replay {plural(health.dead, "dead letter")}
        </Button>
      )}
      {waits > 0 && (
        <Button icon={Trash2} busy={drain.busy} onClick={() => drain.run()}>
          Drain {number(waits)} pending
        </Button>
      )}
    </div>
  );
}

const pending = (count: number) => plural(count, "pending delivery", "pending deliveries");

function kept({ in_flight, dead }: DeliveryHealth): string {
  const parts = [
    in_flight > 0 && `${number(in_flight)} in flight`,
    dead > 0 && plural(dead, "dead letter"),
  ].filter((part) => part !== false);
  return parts.length ? `Kept: ${parts.join(" and ")}.` : "";
}

/** One request replays a limited number, so repeat until none is left. */
async function replayAll(agent_id: string): Promise<number> {
  let total = 0;
  for (;;) {
    const { count, more } = await api.deliveries.replayMany({ agent_id });
    total += count;
    if (!more || count === 0) return total;
  }
}

/** One request discards a limited number, so repeat until none is left of those from before the first. */
async function drainAll(agent_id: string): Promise<number> {
  let total = 0;
  let from: { before?: string } = {};
  for (;;) {
    const { discarded, before, more } = await api.deliveries.drain({ agent_id, ...from });
    total += discarded;
    if (!more) return total;
    from = { before };
  }
}
