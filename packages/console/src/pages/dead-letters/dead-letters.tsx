import { CircleCheck, RotateCw } from "lucide-react";
import { useState } from "react";
import { api } from "../../data/api.ts";
import { number, plural } from "../../data/format.ts";
import { useLive } from "../../data/live.ts";
import { useAddress } from "../../data/use-address.ts";
import { type Pages, useList } from "../../data/use-list.ts";
import { useNames } from "../../data/use-names.ts";
import { Button } from "../../ui/button.tsx";
import { Empty, Page } from "../../ui/page.tsx";
import { List } from "../../ui/table.tsx";
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
  const nameOf = useNames();
  const list = useList(api.deliveries.deadLetters, { limit: 200 });
  const reason = search.get("reason");
  const shown = reason === null ? list.items : list.items?.filter((each) => each.dlq_reason === reason);
  const opened = list.items?.find(({ id }) => id === search.get("letter"));
  const set = (name: string, value: string | null) => change({ [name]: value });
  const toggle = (id: string) => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    setSelected(next);
  };
  const done = async () => {
    setReplaying(undefined);
    setSelected(new Set());
    // The chosen reason may have no letters left.
    change({ letter: null, reason: null });
    await list.reload();
  };
  return (
    <Page
      title="Dead letters"
      lead="Deliveries that were given up, and input that could not be made an event."
      actions={
        selected.size > 0 && (
          <Button kind="primary" icon={RotateCw} onClick={() => setReplaying({ ids: [...selected] })}>
            Replay {number(selected.size)} selected
          </Button>
        )
      }
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
        columns={[
          {
            name: "Event",
            cell: (letter) => (
              <span className="row nowrap">
                <input
                  type="checkbox"
                  aria-label={`Select ${typeOf(letter)}`}
                  checked={selected.has(letter.id)}
                  onChange={() => toggle(letter.id)}
                />
                <button type="button" className="link break" onClick={() => set("letter", letter.id)}>
                  {typeOf(letter)}
                </button>
              </span>
            ),
          },
          {
            name: "For",
            cell: ({ agent_id }) =>
              agent_id ? <Who id={agent_id} /> : <span className="faint">nobody yet</span>,
          },
          { name: "Reason", cell: (letter) => <span className="muted">{letter.dlq_reason}</span> },
          { name: "Hand-outs", end: true, wideOnly: true, cell: (letter) => number(letter.attempt_count) },
          { name: "Died", end: true, cell: (letter) => <Time at={letter.dead_lettered_at} /> },
        ]}
        empty={
          <Empty icon={CircleCheck} title="No dead letters">
            What an agent fails to acknowledge time after time comes here, with the reason, instead of being
            lost.
          </Empty>
        }
      />
      {reason !== null && shown?.length === 0 && (
        <p className="muted">
          None of the {plural(list.items?.length ?? 0, "loaded dead letter")} has this reason.
        </p>
      )}
      {opened && !replaying && (
        <Inspect
          letter={opened}
          agent={opened.agent_id && nameOf(opened.agent_id)}
          onClose={() => set("letter", null)}
          onReplay={() => setReplaying({ ids: [opened.id] })}
          onDone={done}
        />
      )}
      {replaying && (
        <Replay wanted={replaying} nameOf={nameOf} onClose={() => setReplaying(undefined)} onDone={done} />
      )}
    </Page>
  );
}

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
        Show what has changed
      </Button>
    </div>
  );
}
