import { allOf, attributeOf, type Element, parseXml, settingIn } from "./xml.ts";

interface Level {
  start: number;
  format: string;
  /** `%1.%2.` */
  text: string;
}

const LEVELS = 9;
const ROMAN = Object.entries({
  ...{ m: 1000, cm: 900, d: 500, cd: 400, c: 100, xc: 90 },
  ...{ l: 50, xl: 40, x: 10, ix: 9, v: 5, iv: 4, i: 1 },
});

/** Counts the items of a Word document's lists, which do not contain their numbers. */
export class Numbering {
  /** Levels of each definition, and the definition of each list with the levels it restarts. */
  readonly #levels = new Map<string, Level[]>();
  readonly #lists = new Map<string, { definition: string; levels: (Level | undefined)[] }>();
  readonly #counts = new Map<string, number[]>();
  readonly #begun = new Set<string>();

  constructor(bytes: Uint8Array | undefined) {
    const part = parseXml(bytes);
    for (const definition of allOf(part, "abstractNum")) {
      const levels: Level[] = [];
      for (const level of allOf(definition, "lvl")) levels[depthOf(level)] = readLevel(level);
      this.#levels.set(attributeOf(definition, "abstractNumId") ?? "", levels);
    }
    for (const list of allOf(part, "num")) {
      const definition = settingIn(list, "abstractNumId") ?? "";
      const levels: Level[] = [];
      for (const override of allOf(list, "lvlOverride")) {
        const depth = depthOf(override);
        const [level] = allOf(override, "lvl");
        const start = settingIn(override, "startOverride");
        const usual = { format: "decimal", text: `%${depth + 1}.` };
        if (level) levels[depth] = readLevel(level);
        else if (start !== undefined)
          levels[depth] = { ...usual, ...this.#levels.get(definition)?.[depth], start: Number(start) };
      }
      this.#lists.set(attributeOf(list, "numId") ?? "", { definition, levels });
    }
  }

  /** Returns the mark of the next item of a list, such as `2.1`; null if the paragraph is in none. */
  next(list: string | undefined, depth = 0): string | null {
    const { definition, levels = [] } = this.#lists.get(list ?? "") ?? {};
    const defined = definition === undefined ? undefined : this.#levels.get(definition);
    if (definition === undefined || !defined || depth >= LEVELS || !(depth >= 0)) return null;
    const at = (level: number) => levels[level] ?? defined[level] ?? { start: 1, format: "bullet", text: "" };
    const counts = this.#countsOf(list as string, definition, levels);
    counts[depth] = (counts[depth] ?? at(depth).start - 1) + 1;
    counts.length = depth + 1;
    const { format, text } = at(depth);
    if (format === "bullet") return "-";
    if (format === "none") return text.replace(/%\d/g, "").trim() || null;
    return text.replace(/%([1-9])/g, (_, n) => {
      const level = Number(n) - 1;
      return shown(counts[level] ?? at(level).start, at(level).format);
    });
  }

  /** Lists of one definition continue each other, unless one restarts. */
  #countsOf(list: string, definition: string, levels: (Level | undefined)[]): number[] {
    const counts = this.#counts.get(definition) ?? [];
    if (levels.some((level) => level) && !this.#begun.has(list)) counts.length = 0;
    this.#begun.add(list);
    this.#counts.set(definition, counts);
    return counts;
  }
}

/** Levels beyond those of Word are kept in one that no item has. */
const depthOf = (level: Element) => Math.min(LEVELS, Number(attributeOf(level, "ilvl")) || 0);

const readLevel = (level: Element): Level => ({
  start: Number(settingIn(level, "start") ?? 1) || 0,
  format: settingIn(level, "numFmt") ?? "decimal",
  text: settingIn(level, "lvlText") ?? "",
});

function shown(count: number, format: string): string {
  if (format === "lowerLetter" || format === "upperLetter") return inCase(letters(count), format);
  if (format === "lowerRoman" || format === "upperRoman") return inCase(roman(count), format);
  return format === "decimalZero" ? String(count).padStart(2, "0") : String(count);
}

const inCase = (text: string, format: string) => (format.startsWith("upper") ? text.toUpperCase() : text);

/** Word counts a, b, …, z, aa, bb. */
function letters(count: number): string {
  if (count < 1) return String(count);
  return String.fromCharCode(97 + ((count - 1) % 26)).repeat(Math.min(20, Math.ceil(count / 26)));
}

function roman(count: number): string {
  if (count < 1 || count > 3999) return String(count);
  let rest = count;
  let text = "";
  for (const [numeral, value] of ROMAN) for (; rest >= value; rest -= value) text += numeral;
  return text;
}
