import { Link } from "react-router";
import type { DeadLetter } from "../../../../client/index.ts";
import { fullTime } from "../../data/format.ts";
import { useNames } from "../../data/use-names.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { RotateCw, Trash2 } from "../../ui/icons.tsx";
import { Facts } from "../../ui/page.tsx";
import { Subject } from "../../ui/subject.tsx";
import { Json } from "../../ui/text.tsx";
import type { BulkAction } from "./bulk.tsx";
import { headersOf, typeOf } from "./words.ts";

interface Props {
  letter: DeadLetter;
  onClose(): void;
  act(action: BulkAction): void;
}

/** One dead letter: its content, its error and the possible actions. */
export function Inspect({ letter, onClose, act }: Props) {
  const nameOf = useNames();
  const { subject, ...event } = headersOf(letter);
  return (
    <Dialog
      wide
      light
      title={typeOf(letter)}
      onClose={onClose}
      footer={
        <>
          <Button kind="remove" icon={Trash2} onClick={() => act("discard")}>
            Discard
          </Button>
          <Button kind="primary" icon={RotateCw} onClick={() => act("replay")}>
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
            Subject: subject && <Subject event={{ ...event, subject }} />,
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
