import { useState } from "react";
import { Link } from "react-router";
import type { DeadLetter } from "../../../../client/index.ts";
import { api, serverNow } from "../../data/api.ts";
import { filled, fullTime, number } from "../../data/format.ts";
import { isSettled, useList, useRead } from "../../data/queries.ts";
import { useAddress } from "../../data/use-address.ts";
import { type Selection, useSelection } from "../../data/use-selection.ts";
import { Button } from "../../ui/button.tsx";
import { findAgents } from "../../ui/combo.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ComboFilter, FilterForm } from "../../ui/filters.tsx";
import { CircleCheck, RotateCw, SearchX, Trash2 } from "../../ui/icons.tsx";
import { Empty, Facts, Page, Skeleton } from "../../ui/page.tsx";
import { type Column, column, endColumn, List, wideEndColumn } from "../../ui/table.tsx";
import { Json, Subject, Time, Who } from "../../ui/text.tsx";
import { DeliveryLog } from "../events/log.tsx";
import { Bulk, type BulkAction, type Wanted } from "./bulk.tsx";
import { Groups, headersOf, linesOf, typeOf } from "./groups.tsx";
import "./dead-letters.css";

type Acting = { action: BulkAction; wanted: Wanted };

export function DeadLetters() {
  const [search, change] = useAddress();
  const filter = filterIn(search);
  const isFiltered = Object.keys(filter).length > 0;
  const list = useList(api.deliveries.deadLetters, filter, "dead letters", "event");
  const groups = useGroups(filter);
  const selection = useSelection(list.items?.map(({ id }) => id) ?? []);
  const [everything, setEverything] = useState<string>();
  const [acting, setActing] = useState<Acting>();
  // A selection of all belongs to one filter.
  const place = JSON.stringify(filter);
  const isEverything = everything === place;
  const opened = list.items?.find(({ id }) => id === search.get("letter"));
  const { cause = null } = filter;
  const total =
    cause === null ? groups.total : (groups.groups.find((each) => each.cause === cause)?.count ?? 0);
  // Only those that the person could see: others may arrive before the answer. The server's time is known to a second.
  const until = () => {
    const shown = [
      ...groups.groups.map(({ latest_at }) => latest_at),
      ...(list.items ?? []).map(({ dead_lettered_at }) => dead_lettered_at),
    ];
    return [new Date(serverNow()).toISOString(), ...shown].sort().at(-1) as string;
  };
  const done = () => {
    setActing(undefined);
    setEverything(undefined);
    selection.all(false);
    // All of the chosen cause are gone, unless some were named.
    change({ letter: null, ...(!acting?.wanted.ids && { cause: null }) });
  };
  const isEmpty = list.items?.length === 0 && !list.more;
  return (
    <Page
      title="Dead letters"
      lead="Deliveries that failed every attempt, and input that could not be mapped to an event."
    >
      {(isFiltered || !isEmpty) && (
        <FilterForm
          label="Filter dead letters"
          before={<ComboFilter name="agent_id" label="Agent" find={findAgents} none="Any agent" />}
          texts={TEXTS}
        />
      )}
      {!groups.isSettled && <Skeleton lines={8} />}
      <Groups
        {...groups}
        chosen={cause}
        choose={(wanted) => change({ cause: wanted })}
        act={(action, cause) => setActing({ action, wanted: { ...filter, cause, until: until() } })}
      />
      {!isEmpty && list.items && groups.isSettled && (
        <SelectBar
          selection={selection}
          shown={list.items.length}
          total={total}
          more={groups.more}
          everything={isEverything}
          setEverything={(wanted) => setEverything(wanted ? place : undefined)}
          act={(action) =>
            setActing({
              action,
              wanted: isEverything ? { ...filter, until: until() } : { ids: selection.ids },
            })
          }
        />
      )}
      {groups.isSettled && (
        <List
          pages={list}
          label="Dead letters"
          columns={columnsOf(selection, isEverything, (id) => change({ letter: id }))}
          empty={isFiltered ? <NoMatch /> : NONE}
        />
      )}
      {opened && !acting && (
        <Inspect
          letter={opened}
          onClose={() => change({ letter: null })}
          act={(action) => setActing({ action, wanted: { ids: [opened.id] } })}
        />
      )}
      {acting && <Bulk {...acting} onClose={() => setActing(undefined)} onDone={done} />}
    </Page>
  );
}

/** The causes of the letters that match the rest of the filter. */
function useGroups({ cause: _, ...filter }: LetterFilter) {
  const loaded = useRead(api.deliveries.deadLetterGroups, filter, "event", { name: "causes" });
  const { groups = [], total = 0, more = false } = loaded.data ?? {};
  // The list waits for them: they are above it, and would move it.
  return { groups, total, more, isSettled: isSettled(loaded) };
}

const NONE = (
  <Empty icon={CircleCheck} title="No dead letters">
    Deliveries that an agent fails to acknowledge appear here with the reason.
  </Empty>
);

function NoMatch() {
  const [, change] = useAddress();
  const clear = <Button label="Clear filters" onClick={() => change(NO_FILTER)} />;
  return <Empty icon={SearchX} title="No matching dead letters" action={clear} />;
}

const columnsOf = (
  selection: Selection,
  everything: boolean,
  open: (id: string) => void,
): Column<DeadLetter>[] => [
  column("Event", (letter) => (
    <span className="letter">
      <input
        type="checkbox"
        aria-label={`Select ${typeOf(letter)}`}
        checked={everything || selection.has(letter.id)}
        disabled={everything}
        onChange={({ nativeEvent }) =>
          selection.toggle(letter.id, (nativeEvent as unknown as MouseEvent).shiftKey)
        }
      />
      <span className="letter-words">
        <button type="button" className="link break opens" onClick={() => open(letter.id)}>
          {typeOf(letter)}
        </button>
        <About letter={letter} />
      </span>
    </span>
  )),
  column("Error", ({ dlq_reason }) => (
    <span className="letter-error" title={dlq_reason}>
      {linesOf(dlq_reason).line}
    </span>
  )),
  column("Agent", ({ agent_id }) => (agent_id ? <Who id={agent_id} /> : <span className="faint">None</span>)),
  wideEndColumn("Attempts", (letter) => number(letter.attempt_count)),
  endColumn("Failed at", (letter) => <Time at={letter.dead_lettered_at} />),
];

/** The subject of the event, else its source. */
function About({ letter }: { letter: DeadLetter }) {
  const { subject, ...event } = headersOf(letter);
  return (
    <span className="muted small clipped" title={subject ?? letter.source ?? undefined}>
      {subject ? <Subject event={{ ...event, subject }} /> : letter.source}
    </span>
  );
}

interface Props {
  selection: Selection;
  /** Number of rows shown, and of all that match, with "+" if there are more than were counted. */
  shown: number;
  total: number;
  more: boolean;
  /** All that match are selected, shown or not. */
  everything: boolean;
  setEverything(wanted: boolean): void;
  act(action: BulkAction): void;
}

/** Selects rows and acts on them. It stays in view while the list is scrolled. */
function SelectBar({ selection, shown, total, more, everything, setEverything, act }: Props) {
  const count = everything ? total : selection.ids.length;
  const isAll = everything || (shown > 0 && selection.ids.length === shown);
  const all = `${number(total)}${more ? "+" : ""}`;
  return (
    <div className={count > 0 ? "select-bar on" : "select-bar"}>
      <label className="check">
        <input
          type="checkbox"
          checked={isAll}
          ref={(box) => {
            if (box) box.indeterminate = count > 0 && !isAll;
          }}
          onChange={({ target }) => {
            setEverything(false);
            selection.all(target.checked);
          }}
        />
        <span>{count > 0 ? `${everything ? all : number(count)} selected` : "Select all"}</span>
      </label>
      {isAll && !everything && total > shown && (
        <button type="button" className="link" onClick={() => setEverything(true)}>
          Select all {all} that match
        </button>
      )}
      {count > 0 && (
        <span className="row nowrap select-acts">
          <Button label="Discard" small kind="remove" icon={Trash2} onClick={() => act("discard")} />
          <Button label="Replay" small kind="primary" icon={RotateCw} onClick={() => act("replay")} />
        </span>
      )}
    </div>
  );
}

interface InspectProps {
  letter: DeadLetter;
  onClose(): void;
  act(action: BulkAction): void;
}

function Inspect({ letter, onClose, act }: InspectProps) {
  const { subject, ...event } = headersOf(letter);
  return (
    <Dialog
      wide
      light
      title={typeOf(letter)}
      onClose={onClose}
      footer={
        <>
          <Button label="Discard" kind="remove" icon={Trash2} onClick={() => act("discard")} />
          <Button label="Replay" kind="primary" icon={RotateCw} onClick={() => act("replay")} />
        </>
      }
    >
      <div className="stack">
        <Reason>{letter.dlq_reason}</Reason>
        <Facts
          of={{
            Agent: letter.agent_id ? <Who id={letter.agent_id} /> : "None: not an event",
            Subject: subject && <Subject event={{ ...event, subject }} />,
            Attempts: letter.attempt_count,
            "Failed at": fullTime(letter.dead_lettered_at),
            Source: letter.source ?? "–",
            Event: letter.event_id && <Link to={`/events/${letter.event_id}`}>View event</Link>,
          }}
        />
        {letter.agent_id && <DeliveryLog agent_id={letter.agent_id} delivery_id={letter.id} />}
        <Json value={letter.payload} label="payload" />
      </div>
    </Dialog>
  );
}

/** An error; the trace of a program is folded below the line that says what happened. */
function Reason({ children: reason }: { children: string }) {
  const { line, trace } = linesOf(reason);
  return (
    <div>
      <p className="notice warn break">{line}</p>
      {trace && (
        <details className="trace">
          <summary className="muted small">Trace</summary>
          <pre>{trace}</pre>
        </details>
      )}
    </div>
  );
}

/** Which letters are shown. It is in the address, and has the names of the API's parameters. */
type LetterFilter = Partial<Record<(typeof NAMES)[number], string>>;

const TEXTS = [
  ["type", "Type", "com.github.*"],
  ["text", "Text", "In error, subject, type or source"],
] as const;

const NAMES = ["cause", "agent_id", "type", "text"] as const;

const filterIn = (search: URLSearchParams): LetterFilter =>
  filled(Object.fromEntries(NAMES.map((name) => [name, search.get(name) ?? ""])));

const NO_FILTER = Object.fromEntries(NAMES.map((name) => [name, null]));
