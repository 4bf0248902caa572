import { CircleCheck, RotateCw } from "lucide-react";
import { useState } from "react";
import type { DeadLetter } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { number, plural } from "../../data/format.ts";
import { useLive } from "../../data/live.ts";
import { useAddress } from "../../data/use-address.ts";
import { type Pages, useList } from "../../data/use-list.ts";
import { Button } from "../../ui/button.tsx";
import { Empty, Page } from "../../ui/page.tsx";
import { type Column, List } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { Who } from "../../ui/who.tsx";
import { Groups } from "./groups.tsx";
import { Inspect } from "./inspect.tsx";
import { Replay, type Wanted } from "./replay.tsx";
import { typeOf } from "./words.ts";
import "./dead-letters.css";

/** Dead letters by reason, to inspect and replay. */
export function DeadLetters() {
  const [search, change] = useAddress();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [replaying, setReplaying] = useState<Wanted>();
  const list = useList(api.deliveries.deadLetters, { limit: 200 });
  const reason = search.get("reason");
  const shown = reason === null ? list.items : list.items?.filter((each) => each.dlq_reason === reason);
  const opened = list.items?.find(({ id }) => id === search.get("letter"));
  const set = (name: string, value: string | null) => change({ [name]: value });
  const done = async () => {
    setReplaying(undefined);
    setSelected(new Set());
    // The chosen reason may have no letters left.
    change({ letter: null, reason: null });
    await list.reload();
  };
  const replaySelected = selected.size > 0 && (
    <Button kind="primary" icon={RotateCw} onClick={() => setReplaying({ ids: [...selected] })}>
      Replay {number(selected.size)} selected
    </Button>
  );
  return (
    <Page
      title="Dead letters"
      lead="Deliveries that failed every attempt, and input that could not be mapped to an event."
      actions={replaySelected}
    >
      {list.items && list.items.length > 0 && (
        <Groups
          letters={list.items}
          more={list.more !== undefined}
          chosen={reason}
          choose={(wanted) => set("reason", wanted)}
          replay={(wanted) => setReplaying({ reason: wanted })}
        />
      )}
      <News list={list} />
      <List
        pages={{ ...list, items: shown }}
        label="Dead letters"
        columns={columnsOf(selected, setSelected, (id) => set("letter", id))}
        empty={NONE}
      />
      {reason !== null && shown?.length === 0 && <NoneOfReason of={list.items?.length ?? 0} />}
      {opened && !replaying && (
        <Inspect
          letter={opened}
          onClose={() => set("letter", null)}
          onReplay={() => setReplaying({ ids: [opened.id] })}
          onDone={done}
        />
      )}
      {replaying && <Replay wanted={replaying} onClose={() => setReplaying(undefined)} onDone={done} />}
    </Page>
  );
}

function toggled(selected: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(selected);
  if (!next.delete(id)) next.add(id);
  return next;
}

const NONE = (
  <Empty icon={CircleCheck} title="No dead letters">
    Deliveries that an agent fails to acknowledge appear here with the reason.
  </Empty>
);

function NoneOfReason({ of }: { of: number }) {
  return <p className="muted">None of the {plural(of, "loaded dead letter")} has this reason.</p>;
}

const columnsOf = (
  selected: ReadonlySet<string>,
  onSelect: (selected: ReadonlySet<string>) => void,
  open: (id: string) => void,
): Column<DeadLetter>[] => [
  {
    name: "Event",
    cell: (letter) => (
      <span className="row nowrap">
        <input
          type="checkbox"
          aria-label={`Select ${typeOf(letter)}`}
          checked={selected.has(letter.id)}
          onChange={() => onSelect(toggled(selected, letter.id))}
        />
        <button type="button" className="link break" onClick={() => open(letter.id)}>
          {typeOf(letter)}
        </button>
      </span>
    ),
  },
  {
    name: "Agent",
    cell: ({ agent_id }) => (agent_id ? <Who id={agent_id} /> : <span className="faint">None</span>),
  },
  { name: "Reason", cell: (letter) => <span className="muted">{letter.dlq_reason}</span> },
  { name: "Attempts", end: true, wideOnly: true, cell: (letter) => number(letter.attempt_count) },
  { name: "Failed at", end: true, cell: (letter) => <Time at={letter.dead_lettered_at} /> },
];

/** Announces new dead letters without moving the list under the pointer. */
function News({ list }: { list: Pages<unknown> }) {
  const dead = useLive().stats?.deliveries?.dead;
  const [known, setKnown] = useState<{ items: unknown; dead: number }>();
  if (dead === undefined || !list.items) return null;
  if (known?.items !== list.items) setKnown({ items: list.items, dead });
  if (!known || dead === known.dead) return null;
  return (
    <div>
      <Button small busy={list.loading} onClick={list.reload}>
        Show changes
      </Button>
    </div>
  );
}
