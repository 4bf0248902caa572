import { useEffect, useRef, useState } from "react";
import { store, stored } from "../data/stored.ts";
import { Dialog } from "../ui/dialog.tsx";
import { CheckField } from "../ui/field.tsx";

interface Actions {
  openPalette(): void;
  showHelp(): void;
}

/** The name of the shortcut's modifier on this machine. */
export const MODIFIER = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘" : "Ctrl";

/** Acts on the keyboard shortcuts of the console. Dialogs and fields keep their keys. */
export function useShortcuts(actions: Actions): void {
  const latest = useRef(actions);
  latest.current = actions;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey || document.querySelector("dialog[open]")) return;
      const isPalette =
        (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === "k";
      if (isPalette) latest.current.openPalette();
      else if (event.ctrlKey || event.metaKey || !actOn(event, latest.current)) return;
      event.preventDefault();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}

/** Acts on a single key; returns whether there was something to do. */
function actOn({ key, target }: KeyboardEvent, { openPalette, showHelp }: Actions): boolean {
  if (key === "ArrowDown" || key === "ArrowUp")
    return (
      target instanceof HTMLElement &&
      target.matches("a, .opens") &&
      moveRow(key === "ArrowDown" ? 1 : -1, { within: true })
    );
  if (!singleKeys() || isTyping(target)) return false;
  if (key === "j") return moveRow(1);
  if (key === "k") return moveRow(-1);
  if (key === "x") return tickRow();
  if (key === "/") {
    if (!focusSearch()) openPalette();
    return true;
  }
  if (key !== "?") return false;
  showHelp();
  return true;
}

function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement)
    return !["checkbox", "radio", "button", "file"].includes(target.type);
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("textarea, select"));
}

const KEY = "sensorium.keys";

const singleKeys = () => stored(KEY) !== "off";

const SHORTCUTS: [keys: string[], effect: string][] = [
  [[MODIFIER, "K"], "Go to a page, agent, event, memory or run"],
  [["/"], "Search or filter this page"],
  [["j", "k"], "Next or previous row of the list; also ↓ and ↑ in the list"],
  [["Enter"], "Open the row"],
  [["x"], "Select the row"],
  [["Esc"], "Close a dialog or a list"],
  [["?"], "Show the keyboard shortcuts"],
];

/** The keyboard shortcuts, and a switch for those without a modifier: speech input can trigger them by accident. */
export function ShortcutsDialog({ onClose }: { onClose(): void }) {
  const [on, setOn] = useState(singleKeys);
  const change = (wanted: boolean) => {
    setOn(wanted);
    store(KEY, wanted ? null : "off");
  };
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose} done="Done" light>
      <dl className="shortcuts">
        {SHORTCUTS.map(([keys, effect]) => (
          <div key={effect}>
            <dt>
              {keys.map((each) => (
                <kbd key={each}>{each}</kbd>
              ))}
            </dt>
            <dd>{effect}</dd>
          </div>
        ))}
      </dl>
      <CheckField
        label="Single-key shortcuts"
        hint={`Turn off if they get in your way. ${MODIFIER} K always works.`}
        checked={on}
        onChange={change}
      />
    </Dialog>
  );
}

/** Rows of the lists of a page. */
const ROWS = "main :is(.table tbody tr, ol.framed > li)";
const CONTROL = "a[href], button, input";
const SEARCHES = ["[type=search]", ":is(search, .filters, .filter-line, .list-bar) :is(input, select)"];

/**
 * Moves the focus to another row: to what opens it, or else its first control. From elsewhere it goes to the first or last
 * row.
 *
 * @param within only from row to row
 * @returns whether there was a row to go to
 */
function moveRow(step: 1 | -1, { within = false } = {}): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>(ROWS)].filter((row) => row.querySelector(CONTROL));
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  if (within && at < 0) return false;
  const next = at < 0 ? rows.at(step > 0 ? 0 : -1) : (rows[at + step] ?? rows[at]);
  const control = next?.querySelector<HTMLElement>(".opens") ?? next?.querySelector<HTMLElement>(CONTROL);
  control?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: "nearest" });
  return control !== undefined && control !== null;
}

/** Ticks or unticks the row that has the focus. */
function tickRow(): boolean {
  const row = document.activeElement?.closest(ROWS);
  const box = row?.querySelector<HTMLInputElement>("input[type=checkbox]");
  box?.click();
  return box !== undefined && box !== null;
}

/** Focuses the search of the page, or else its first filter. */
function focusSearch(): boolean {
  for (const selector of SEARCHES) {
    const fields = [...document.querySelectorAll<HTMLInputElement>(`main ${selector}`)];
    const field = fields.find((each) => each.checkVisibility());
    if (!field) continue;
    field.focus();
    if (field instanceof HTMLInputElement) field.select();
    return true;
  }
  return false;
}
