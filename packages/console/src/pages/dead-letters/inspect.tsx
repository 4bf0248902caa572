import { RotateCw, Trash2 } from "lucide-react";
import { Link } from "react-router";
import type { DeadLetter } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { fullTime } from "../../data/format.ts";
import { useNames } from "../../data/use-names.ts";
import { useTask } from "../../data/use-task.ts";
import { Button } from "../../ui/button.tsx";
import { confirm } from "../../ui/confirm.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Facts } from "../../ui/page.tsx";
import { Json } from "../../ui/text.tsx";
import { toast } from "../../ui/toast.tsx";
import { typeOf } from "./words.ts";

interface Props {
  letter: DeadLetter;
  onClose(): void;
  onReplay(): void;
  onDone(): unknown;
}

/** One dead letter: its content, its error and the possible actions. */
export function Inspect({ letter, onClose, onReplay, onDone }: Props) {
  const nameOf = useNames();
  const discard = useTask(async () => {
    const sure = await confirm({
      title: "Discard this dead letter?",
      text: "It can no longer be replayed. The event itself is kept until its retention ends. This cannot be undone.",
      action: "Discard",
    });
    if (!sure) return;
    await api.deliveries.discard({ id: letter.id });
    toast({ title: "Dead letter discarded." });
    await onDone();
  });
  return (
    <Dialog
      wide
      light
      title={typeOf(letter)}
      onClose={onClose}
      footer={
        <>
          <Button kind="remove" icon={Trash2} busy={discard.busy} onClick={() => discard.run()}>
            Discard
          </Button>
          <Button kind="primary" icon={RotateCw} onClick={onReplay}>
            Replay
          </Button>
        </>
      }
    >
      <div className="stack">
        <p className="notice warn">{letter.dlq_reason}</p>
        <Facts
          of={{
            Agent: letter.agent_id ? (
              <Link to={`/agents/${letter.agent_id}`}>{nameOf(letter.agent_id)}</Link>
            ) : (
              "None: not an event"
            ),
            Attempts: letter.attempt_count,
            "Failed at": fullTime(letter.dead_lettered_at),
            Source: letter.source ?? "–",
            Event: letter.event_id && <Link to={`/events/${letter.event_id}`}>View event</Link>,
          }}
        />
        <Json value={letter.payload} label="payload" />
      </div>
    </Dialog>
  );
}
