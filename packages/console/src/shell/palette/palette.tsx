import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { useLocation, useNavigate } from "react-router";
import { pause, useLoad } from "../../data/queries.ts";
import { useSession } from "../../data/session.ts";
import { recentPlaces } from "../../data/stored.ts";
import { useModal } from "../../ui/dialog.tsx";
import { messageOf } from "../../ui/failure.tsx";
import { ArrowRight, Clock, Search } from "../../ui/icons.tsx";
import { useTask } from "../../ui/task.tsx";
import { actionsFor, isNamed, pagesFor, searchesFor, type Target } from "../nav.ts";
import { contains, newFinder } from "./sources.ts";
import "../../styles/search.css";
import "./palette.css";

/** Wait for a pause in typing before asking the server. */
const PAUSE_MS = 160;
/** Shorter texts match almost everything. */
const MIN_SEARCHED = 2;

/** Goes to a page or a thing by its name, or does what it is told: an ARIA combobox in a modal dialog. */
export function Palette({ onClose, showHelp }: { onClose(): void; showHelp(): void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const { targets, found, error, loading } = useTargets(text.trim(), showHelp);
  const isQuiet = found > 0 && error === undefined;
  const state = stateOf(text.trim(), found, loading, error);
  const navigate = useNavigate();
  const id = useId();
  const dialog = useModal("input");
  const chosen = targets[Math.min(at, targets.length - 1)];
  const go = (target: Target | undefined) => {
    if (!target) return;
    onClose();
    if (target.act) target.act();
    else navigate(target.to);
  };
  const press = (event: KeyboardEvent) => {
    const { key } = event;
    const last = targets.length - 1;
    if (key === "ArrowDown") setAt(at >= last ? 0 : at + 1);
    else if (key === "ArrowUp") setAt(at <= 0 ? last : at - 1);
    else if (key === "Enter") go(chosen);
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      ref={dialog}
      className="dialog palette"
      aria-label="Go to"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onMouseDown={(event) => event.target === dialog.current && onClose()}
    >
      <div className="palette-line">
        <Search aria-hidden size={18} className="search-icon" />
        <input
          role="combobox"
          aria-label="Search pages, actions, agents, events, memories and runs"
          aria-expanded={targets.length > 0}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={chosen && `${id}-${targets.indexOf(chosen)}`}
          className="search-input"
          placeholder="Go to a page or thing, or do something"
          autoComplete="off"
          spellCheck={false}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setAt(0);
          }}
          onKeyDown={press}
        />
        <kbd>Esc</kbd>
      </div>
      <Targets id={id} targets={targets} chosen={chosen} go={go} />
      <p className={isQuiet ? "palette-state visually-hidden" : "palette-state"} role="status">
        {state}
      </p>
    </dialog>
  );
}

/**
 * The targets for a text, and how many of them match it: pages and actions at once, others when the server has answered.
 */
function useTargets(text: string, showHelp: () => void) {
  const { may, signOut } = useSession();
  const leave = useTask(signOut);
  const { pathname } = useLocation();
  const [find] = useState(() => newFinder(may));
  const isSearched = text.length >= MIN_SEARCHED;
  const found = useLoad(
    async (signal) => {
      if (!isSearched) return { targets: [], error: undefined };
      await pause(PAUSE_MS, signal);
      return find(text, signal);
    },
    [text],
  );
  // While the next answer loads, what still matches stays.
  const before = useRef<Target[]>([]);
  if (found.data) before.current = found.data.targets;
  const others = found.data ? before.current : before.current.filter((each) => contains(each, text));
  const pages = pagesFor(may);
  const actions = actionsFor(may, { showHelp, signOut: () => leave.run() });
  if (!text) {
    const recent = recentPlaces().filter(({ to }) => to !== pathname);
    const visited = recent.map(({ to, title }) => ({ to, label: title, icon: Clock, group: "Recent" }));
    const targets = [...visited, ...actions, ...pages];
    return { targets, found: targets.length, loading: false, error: undefined };
  }
  const targets = [
    ...byId(text),
    ...[...pages, ...actions].filter((each) => isNamed(each, text)),
    ...(isSearched ? others : []),
  ];
  // Not before the answer: Enter must not search on when what it means is about to appear.
  const further = isSearched && !found.loading ? searchesFor(text, may) : [];
  return {
    targets: [...targets, ...further],
    found: targets.length,
    loading: found.loading,
    error: found.error ?? found.data?.error,
  };
}

function stateOf(text: string, count: number, loading: boolean, error: unknown): string {
  if (!text) return "";
  if (error !== undefined) return messageOf(error);
  if (text.length < MIN_SEARCHED && count === 0) return "Keep typing.";
  if (loading) return "Searching…";
  return count === 0 ? "No matches." : `${count} found`;
}

/** The page of an id that its kind can be seen of. */
function byId(text: string): Target[] {
  const [, kind] = /^(evt|ag)_\w+$/.exec(text) ?? [];
  if (!kind) return [];
  const [page, label] = kind === "evt" ? ["events", "Event"] : ["agents", "Agent"];
  return [{ to: `/${page}/${text}`, label: `${label} ${text}`, icon: ArrowRight, group: "By ID" }];
}

interface TargetsProps {
  id: string;
  targets: Target[];
  chosen: Target | undefined;
  go(target: Target): void;
}

function Targets({ id, targets, chosen, go }: TargetsProps) {
  const list = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the chosen one must be in sight
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const groups = [...Map.groupBy(targets, ({ group }) => group)];
  return (
    <div ref={list} id={`${id}-list`} className="palette-list" role="listbox" aria-label="Places">
      {groups.map(([group, members]) => (
        // biome-ignore lint/a11y/useSemanticElements: a listbox has groups, not fieldsets
        <div key={group} role="group" aria-label={group}>
          <p className="palette-group" aria-hidden>
            {group}
          </p>
          {members.map((target) => {
            const { to, label, detail, icon: Icon } = target;
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the field's
              <div
                key={to}
                id={`${id}-${targets.indexOf(target)}`}
                role="option"
                tabIndex={-1}
                aria-selected={target === chosen}
                className="palette-target"
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => go(target)}
              >
                <Icon aria-hidden size={16} />
                <span className="truncate">{label}</span>
                {detail && <span className="truncate faint small">{detail}</span>}
              </div>
            );
          })}
        </div>
      ))}
    </div>
  );
}
