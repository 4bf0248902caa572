import { isOn } from "./office.ts";

/** A field of an older form, with its settings. */
interface Field {
  box?: boolean;
  entries: string[];
  chosen: number;
  isList: boolean;
  inResult: boolean;
}

/** A control of a newer form (`w:sdt`); `box` if it can be ticked. */
interface Control {
  box?: boolean;
  isWritten: boolean;
}

type Attribute = (key: string) => string | undefined;
const mark = (isTicked = false) => (isTicked ? "☒" : "☐");

/** Shows the state of a Word document's check boxes and lists, in place of what their fonts draw. */
export class FormFields {
  readonly #add: (text: string) => void;
  readonly #fields: Field[] = [];
  readonly #controls: Control[] = [];

  constructor(add: (text: string) => void) {
    this.#add = add;
  }

  /** Returns false for elements that are not of a form. */
  open(name: string, attribute: Attribute): boolean {
    if (name === "fldChar") this.#field(attribute("fldCharType"));
    else if (name === "sdt") this.#controls.push({ isWritten: false });
    else return this.#setting(name, attribute("val"));
    // The settings of a field are within it.
    return true;
  }

  close(name: string): void {
    if (name !== "sdt") return;
    this.isReplaced();
    this.#controls.pop();
  }

  /** Whether the text at this place is the picture of a state, which is written instead of it. */
  isReplaced(): boolean {
    const control = this.#controls.at(-1);
    if (control?.box !== undefined && !control.isWritten) {
      control.isWritten = true;
      this.#add(mark(control.box));
    }
    const field = this.#fields.at(-1);
    return control?.box !== undefined || Boolean(field?.inResult && shownBy(field) !== null);
  }

  #field(type = ""): void {
    if (type === "begin") this.#fields.push({ entries: [], chosen: 0, isList: false, inResult: false });
    const field = this.#fields.at(-1);
    if (type === "separate" && field) field.inResult = true;
    if (type !== "end") return;
    this.#fields.pop();
    const shown = field && shownBy(field);
    if (shown) this.#add(shown);
  }

  #setting(name: string, value: string | undefined): boolean {
    const field = this.#fields.at(-1);
    const control = this.#controls.at(-1);
    if (name === "checkbox" && control) control.box = false;
    else if (name === "checkBox" && field) field.box = false;
    else if (name === "ddList" && field) field.isList = true;
    else if (name === "listEntry" && field?.isList) field.entries.push(value ?? "");
    else if ((name === "result" || name === "default") && field?.isList) field.chosen = Number(value) || 0;
    else if (
      (name === "checked" || name === "default") &&
      field &&
      !field.inResult &&
      field.box !== undefined
    )
      field.box = isOn(value);
    else if (name === "checked" && control?.box !== undefined) control.box = isOn(value);
    else return false;
    return true;
  }
}

/** Returns null for fields whose text stands in the document. */
function shownBy({ box, isList, entries, chosen }: Field): string | null {
  if (box !== undefined) return mark(box);
  return isList ? (entries[chosen] ?? "") : null;
}
