import { defined } from "../../lib/defined.ts";
import { allOf, attributeOf, isOn, parseXml, settingIn } from "./xml.ts";

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
  const own = new Map(
    allOf(parseXml(bytes), "style").map((style) => {
      const value = (name: string) => settingIn(style, name);
      const [outline, depth, vanish] = [value("outlineLvl"), value("ilvl"), value("vanish")];
      const given = {
        base: value("basedOn"),
        level: outline === undefined ? headingLevel(value("name")) : outlineLevel(outline),
        list: value("numId"),
        depth: depth === undefined ? undefined : Number(depth),
        isHidden: vanish === undefined ? undefined : isOn(vanish),
      };
      return [attributeOf(style, "styleId") ?? "", given];
    }),
  );
  const inherited = (id: string, left = MAX_BASES): Style => {
    const { base, ...rest } = own.get(id) ?? {};
    return { ...(base && left && inherited(base, left - 1)), ...defined(rest) };
  };
  return new Map([...own.keys()].map((id) => [id, inherited(id)]));
}

/** Reads the built-in names, which are the same in every language: `heading 2`, `Title`. */
function headingLevel(name = ""): number | undefined {
  if (/^title$/i.test(name)) return 1;
  const level = /^heading ([1-9])$/i.exec(name)?.[1];
  return level === undefined ? undefined : Number(level);
}

/** Reads `w:outlineLvl`: 9 is body text. */
const outlineLevel = (value: string) => (Number(value) < 9 ? Number(value) + 1 : undefined);
