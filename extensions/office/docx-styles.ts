import { defined } from "../../lib/defined.ts";
import { isOn, readAttribute, readXml } from "./office.ts";

/** Effects of a paragraph's or run's style on its text. */
export interface Style {
  /** Level of a heading, from 1. */
  level?: number;
  /** Id of the list that it is an item of; "0" for none. */
  list?: string | undefined;
  /** Depth in the list, from 0. */
  depth?: number;
  isHidden?: boolean;
}

/** Deeper inheritance is a circle. */
const MAX_BASES = 20;

/** Returns the styles of a Word document by id, with what they inherit. */
export function readStyles(bytes: Uint8Array | undefined): Map<string, Style> {
  const own = new Map<string, Style & { base?: string }>();
  let style: Style & { base?: string } = {};
  readXml(bytes, {
    open(name, attributes) {
      const of = (key: string) => readAttribute(attributes, key);
      const value = of("val") ?? "";
      if (name === "style") {
        style = {};
        own.set(of("styleId") ?? "", style);
      } else if (name === "name") style.level ??= headingLevel(value);
      else if (name === "basedOn") style.base = value;
      else if (name === "outlineLvl") style.level = Number(value) < 9 ? Number(value) + 1 : undefined;
      else if (name === "numId") style.list = value;
      else if (name === "ilvl") style.depth = Number(value);
      else if (name === "vanish") style.isHidden = isOn(of("val"));
    },
  });
  const inherited = (id: string, left = MAX_BASES): Style => {
    const { base, ...rest } = own.get(id) ?? {};
    return base && left ? { ...inherited(base, left - 1), ...defined(rest) } : rest;
  };
  return new Map([...own.keys()].map((id) => [id, inherited(id)]));
}

/** Reads the built-in names, which are the same in every language: `heading 2`, `Title`. */
function headingLevel(name: string): number | undefined {
  if (/^title$/i.test(name)) return 1;
  const level = /^heading ([1-9])$/i.exec(name)?.[1];
  return level === undefined ? undefined : Number(level);
}
