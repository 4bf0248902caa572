import type { DeadLetter, DeliveriesDeadLetterGroupsResult } from "../../../../client/index.ts";
import { number, plural } from "../../data/format.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { RotateCw, Trash2 } from "../../ui/icons.tsx";
import { Time } from "../../ui/text.tsx";
import type { BulkAction } from "./bulk.tsx";

interface Props {
  groups: DeliveriesDeadLetterGroupsResult["groups"];
  /** Others are not counted. */
  more: boolean;
  chosen: string | null;
  choose(cause: string | null): void;
  act(action: BulkAction, cause: string): void;
}

/** The causes, most frequent first; one narrows the list, and all letters of one can be replayed or discarded together. */
export function Groups({ groups, more, chosen, choose, act }: Props) {
  return (
    <ul className="groups" aria-label="Causes">
      {groups.map(({ cause, dlq_reason, count, agents, latest_at }) => (
        <li key={cause} className={cause === chosen ? "group on" : "group"}>
          <button
            type="button"
            className="group-name"
            aria-pressed={cause === chosen}
            title={dlq_reason}
            onClick={() => choose(cause === chosen ? null : cause)}
          >
            <strong className="num">
              {number(count)}
              {more && "+"}
            </strong>
            <span className="group-words">
              <span className="group-reason">{cause}</span>
              <span className="faint small">
                {agents > 0 ? plural(agents, "agent") : "No agent"}, latest <Time at={latest_at} />
              </span>
            </span>
          </button>
          <IconButton icon={Trash2} label={`Discard all: ${cause}`} onClick={() => act("discard", cause)} />
          <Button
            label="Replay all"
            small
            icon={RotateCw}
            onClick={() => act("replay", cause)}
            aria-label={`Replay all: ${cause}`}
          />
        </li>
      ))}
    </ul>
  );
}

/** Returns the type of a dead letter's event in a few words. */
export function typeOf({ payload }: DeadLetter): string {
  return headersOf({ payload }).type || "Not an event";
}

/** Returns what the payload says of itself. If it was not an event, or is no longer kept, there is nothing. */
export function headersOf({ payload }: Pick<DeadLetter, "payload">) {
  const { type, subject, data } = (payload ?? {}) as Record<"type" | "subject" | "data", unknown>;
  return {
    type: typeof type === "string" ? type : "",
    subject: typeof subject === "string" ? subject : null,
    data,
  };
}

/** Returns the line of a reason that says what happened, and the whole if that has more. */
export function linesOf(reason: string): { line: string; trace: string | null } {
  // The number of attempts is shown apart.
  const text = reason.replace(/^max attempts exceeded \(\d+\): /, "").trim();
  const lines = text.split(/\s*\n\s*/);
  const line = (text.startsWith("Traceback (most recent call last)") ? lines.at(-1) : lines[0]) ?? text;
  return { line, trace: lines.length > 1 ? text : null };
}
