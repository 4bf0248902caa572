import { markdownTable } from "../../lib/text/blocks.ts";
import { numberFormat } from "./cell-format.ts";
import { type OfficeFile, readRelations, readXml } from "./office.ts";

/** A row of numbers with its name and the categories that they belong to. */
interface Series {
  id: string;
  name: string;
  /** Names of categories by their position, one map for each level, the innermost first. */
  categories: Map<number, string>[];
  /** One column for each dimension: `val`, `xVal`, `yVal`, `bubbleSize`. */
  columns: Map<string, Map<number, string>>;
}

const newSeries = (id = ""): Series => ({ id, name: "", categories: [], columns: new Map() });
const asIs = (value: string) => value;
const NUMBERS = new Set(["numCache", "numLit", "numDim"]);
const FIELDS = new Set(["tx", "cat", "val", "xVal", "yVal", "bubbleSize", "strDim", "numDim"]);

/** Returns the titles and the values of a chart of any Office file, newer kinds too (`cx:`). */
export function chartText({ archive }: OfficeFile, part: string): string {
  const chart = new ChartReader();
  readXml(archive.open(part), chart);
  return [...chart.lines(), ...chart.tables()].filter(Boolean).join("\n\n");
}

/** Returns the part with the shapes that are drawn over a chart. */
export const chartShapes = ({ archive }: OfficeFile, part: string): string | undefined =>
  readRelations(archive, part).find(({ type }) => type === "chartUserShapes")?.part;

class ChartReader {
  readonly #series: Series[] = [];
  readonly #lines: string[] = [];
  /** Names of the series of newer charts, by the id of their data. */
  readonly #names = new Map<string, string>();
  #open: Series | null = null;
  #field = "";
  #level = 0;
  #at = 0;
  #show = asIs;
  #value: string | null = null;
  /** Of the series of a newer chart. */
  #name: string | null = null;

  open(name: string, { idx, id, val, formatCode }: Record<string, string>): void {
    if (name === "data" || name === "ser") this.#open = newSeries(id);
    else if (name === "series") this.#name = "";
    else if (name === "dataId") this.#names.set(val ?? "", this.#name ?? "");
    else if (this.#open && FIELDS.has(name)) {
      this.#field = name;
      this.#level = -1;
      this.#show = asIs;
    } else if (name === "lvl") this.#level++;
    if (NUMBERS.has(name)) this.#show = numberFormat("General");
    if (formatCode) this.#show = numberFormat(formatCode);
    if (name === "pt") {
      this.#at = Number(idx) || 0;
      if (this.#open && this.#open.id !== "") this.#value = "";
    } else if (name === "v" || name === "t" || name === "formatCode") this.#value = "";
    else if (name === "p" || name === "title") this.#lines.push("");
  }

  text(given: string): void {
    if (this.#value !== null) this.#value += given;
  }

  close(name: string): void {
    const value = this.#value;
    if ((name === "data" || name === "ser") && this.#open) {
      this.#series.push(this.#open);
      this.#open = null;
      this.#field = "";
    } else if (name === "series") this.#name = null;
    else if (FIELDS.has(name)) this.#field = "";
    if (value === null || !["v", "t", "pt", "formatCode"].includes(name)) return;
    this.#value = null;
    if (name === "formatCode") this.#show = numberFormat(value);
    else if (name === "t" || !this.#open) this.#line(value);
    else this.#point(this.#open, value);
  }

  lines(): string[] {
    return [...new Set(this.#lines.map((line) => line.trim()))];
  }

  /** Series of the same categories share a table. */
  tables(): string[] {
    const groups = new Map<string, Series[]>();
    for (const series of this.#series) {
      if (!series.columns.size && !series.name) continue;
      const key = JSON.stringify(series.categories.map((level) => [...level]));
      groups.set(key, [...(groups.get(key) ?? []), series]);
    }
    return [...groups.values()].map((group) => this.#table(group));
  }

  /** A title, or the name of a series of a newer chart. */
  #line(text: string): void {
    if (this.#name === null) this.#lines.push(`${this.#lines.pop() ?? ""}${text}`);
    else this.#name += text;
  }

  #point(series: Series, value: string): void {
    const field = this.#field;
    if (field === "tx") series.name = [series.name, value].filter(Boolean).join(" ");
    else if (field === "cat" || field === "strDim") {
      const level = Math.max(0, this.#level);
      for (let at = series.categories.length; at <= level; at++) series.categories.push(new Map());
      series.categories[level]?.set(this.#at, this.#show(value));
    } else if (field) {
      const column = series.columns.get(field) ?? new Map<number, string>();
      series.columns.set(field, column.set(this.#at, this.#show(value)));
    }
  }

  #table(group: Series[]): string {
    const categories = outerFirst((group[0] as Series).categories);
    const columns = group.flatMap(({ name, id, columns: own }) =>
      [...own].map(([field, values]) => {
        const title = name || this.#names.get(id) || "";
        return { title: own.size > 1 ? `${title} ${field}`.trim() : title, values };
      }),
    );
    const rows = [...new Set([...categories.keys(), ...columns.flatMap(({ values }) => [...values.keys()])])];
    const header = ["", ...columns.map(({ title }) => title)];
    const cells = rows
      .sort((a, b) => a - b)
      .map((at) => [categories.get(at) ?? "", ...columns.map(({ values }) => values.get(at) ?? "")]);
    return markdownTable([header, ...cells]);
  }
}

/** Joins the levels of categories; an outer one is named once for those that it spans. */
function outerFirst(levels: Map<number, string>[]): Map<number, string> {
  const [inner = new Map<number, string>(), ...outer] = levels;
  const current = outer.map(() => "");
  return new Map(
    [...inner]
      .sort(([a], [b]) => a - b)
      .map(([at, name]) => {
        outer.forEach((level, i) => {
          current[i] = level.get(at) ?? (current[i] as string);
        });
        return [at, [...current].reverse().concat(name).filter(Boolean).join(" / ")];
      }),
  );
}
