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
  choose(reason: string | null): void;
  act(action: BulkAction, reason: string): void;
}

/** The causes, most frequent first; one narrows the list, and all letters of one can be replayed or discarded together. */
export function Groups({ groups, more, chosen, choose, act }: Props) {
  return (
    <ul className="groups" aria-label="Causes">
      {groups.map((group) => (
        <li key={group.dlq_reason} className={group.dlq_reason === chosen ? "group on" : "group"}>
          <Cause
            group={group}
            more={more}
            isChosen={group.dlq_reason === chosen}
            choose={() => choose(group.dlq_reason === chosen ? null : group.dlq_reason)}
          />
          <IconButton
            icon={Trash2}
            label={`Discard all: ${group.dlq_reason}`}
            onClick={() => act("discard", group.dlq_reason)}
          />
          <Button
            label="Replay all"
            small
            icon={RotateCw}
            onClick={() => act("replay", group.dlq_reason)}
            aria-label={`Replay all: ${group.dlq_reason}`}
          />
        </li>
      ))}
    </ul>
  );
}

interface CauseProps extends Pick<Props, "more"> {
  group: Props["groups"][number];
  isChosen: boolean;
  choose(): void;
}

function Cause({ group: { dlq_reason, count, agents, latest_at }, more, isChosen, choose }: CauseProps) {
  const { cause, attempts } = causeOf(dlq_reason);
  return (
    <button type="button" className="group-name" aria-pressed={isChosen} title={dlq_reason} onClick={choose}>
      <strong className="num">
        {number(count)}
        {more && "+"}
      </strong>
      <span className="group-words">
        <span className="group-reason">{cause}</span>
        <span className="faint small">
          {agents > 0 ? plural(agents, "agent") : "No agent"}
          {attempts !== null && `, after ${plural(attempts, "attempt")}`}, latest <Time at={latest_at} />
        </span>
      </span>
    </button>
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

const SPENT = /^max attempts exceeded \((\d+)\): /;

/** Splits a reason: after how many attempts, if it says so, and the cause. */
export function causeOf(reason: string): { cause: string; attempts: number | null } {
  const [prefix = "", attempts] = SPENT.exec(reason) ?? [];
  return { cause: reason.slice(prefix.length), attempts: attempts === undefined ? null : Number(attempts) };
}
