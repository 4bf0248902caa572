import { useEffect, useRef, useState } from "react";
import { store, stored } from "../data/stored.ts";
import { Dialog } from "../ui/dialog.tsx";
import { CheckField } from "../ui/field.tsx";
import { focusSearch, moveRow, tickRow } from "./page-focus.ts";

interface Actions {
  openPalette(): void;
  showHelp(): void;
}

/** What the modifier of the palette's shortcut is called on this machine. */
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
    return target instanceof HTMLAnchorElement && moveRow(key === "ArrowDown" ? 1 : -1, { within: true });
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
