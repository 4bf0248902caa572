import { RotateCw } from "lucide-react";
import type { DeadLetter } from "../../../../client/index.ts";
import { number } from "../../data/format.ts";
import { Button } from "../../ui/button.tsx";

interface Props {
  letters: readonly DeadLetter[];
  /** More letters are not loaded yet. */
  more: boolean;
  chosen: string | null;
  choose(reason: string | null): void;
  replay(reason: string): void;
}

/** The reasons, most frequent first; one narrows the list, and all letters of one can be replayed together. */
export function Groups({ letters, more, chosen, choose, replay }: Props) {
  const counts = new Map<string, number>();
  for (const { dlq_reason } of letters) counts.set(dlq_reason, (counts.get(dlq_reason) ?? 0) + 1);
  const groups = [...counts].sort(([, a], [, b]) => b - a);
  return (
    <ul className="groups">
      {groups.map(([reason, count]) => (
        <li key={reason} className={reason === chosen ? "group on" : "group"}>
          <button
            type="button"
            className="group-name"
            aria-pressed={reason === chosen}
            onClick={() => choose(reason === chosen ? null : reason)}
          >
            <strong className="num">
              {number(count)}
              {more && "+"}
            </strong>
            <span className="group-reason">{reason}</span>
          </button>
          <Button small icon={RotateCw} onClick={() => replay(reason)} aria-label={`Replay all: ${reason}`}>
            Replay all
          </Button>
        </li>
      ))}
    </ul>
  );
}
