import { number } from "../../data/format.ts";
import type { Selection } from "../../data/use-selection.ts";
import { Button } from "../../ui/button.tsx";
import { RotateCw, Trash2 } from "../../ui/icons.tsx";
import type { BulkAction } from "./bulk.tsx";

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
export function SelectBar({ selection, shown, total, more, everything, setEverything, act }: Props) {
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
          <Button small kind="remove" icon={Trash2} onClick={() => act("discard")}>
            Discard
          </Button>
          <Button small kind="primary" icon={RotateCw} onClick={() => act("replay")}>
            Replay
          </Button>
        </span>
      )}
    </div>
  );
}
