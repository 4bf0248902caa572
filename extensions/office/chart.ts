import { markdownTable } from "../../lib/text/blocks.ts";
import { numberFormat } from "./cell-format.ts";
import { type OfficeFile, readRelations } from "./office.ts";
import { allOf, childOf, childrenOf, type Element, parseXml, textOf, writtenIn } from "./xml.ts";

/** Texts by their position in a series. */
type Values = Map<number, string>;

/** A row of numbers with its name and the categories that they belong to. */
interface Series {
  name: string;
  /** Names of categories, one map for each level, the innermost first. */
  categories: Values[];
  /** One column for each dimension: `val`, `xVal`, `yVal`, `bubbleSize`. */
  columns: [dimension: string, values: Values][];
}

const NUMBERS = ["numCache", "numLit", "numDim"];
const CATEGORIES = ["cat", "strDim"];
const DIMENSIONS = ["val", "xVal", "yVal", "bubbleSize", "numDim"];

/** Returns the titles and the values of a chart of any Office file, newer kinds too (`cx:`). */
export function chartText({ archive }: OfficeFile, part: string): string {
  const chart = parseXml(archive.open(part));
  const lines = new Set(titlesIn(chart).map((line) => line.trim()));
  return [...lines, ...tablesOf(readSeries(chart))].filter(Boolean).join("\n\n");
}

/** Returns the part with the shapes that are drawn over a chart. */
export const chartShapes = ({ archive }: OfficeFile, part: string): string | undefined =>
  readRelations(archive, part).find(({ type }) => type === "chartUserShapes")?.part;

/** Returns the paragraphs of a chart, and the values outside its series, such as a title from a cell. */
function titlesIn(element: Element, inSeries = false): string[] {
  const { name } = element;
  if (name === "p") return [writtenIn(element)];
  if (name === "v") return inSeries ? [] : [textOf(element)];
  // Of a newer chart: the names of columns.
  if (name === "series") return [];
  const isSeries = inSeries || name === "ser" || name === "data";
  return childrenOf(element).flatMap((child) => titlesIn(child, isSeries));
}

function readSeries(chart: Element): Series[] {
  /** Names of the series of newer charts, by the id of their data. */
  const names = new Map(
    allOf(chart, "series").map((series) => [childOf(series, "dataId")?.attributes.val, nameIn(series)]),
  );
  const all = allOf(chart, "ser", "data").map((series) => {
    const fields = childrenOf(series);
    return {
      name: nameIn(series) || names.get(series.attributes.id) || "",
      categories: fields.filter(({ name }) => CATEGORIES.includes(name)).flatMap(levelsOf),
      columns: fields
        .filter(({ name }) => DIMENSIONS.includes(name))
        .map((field): Series["columns"][number] => [
          field.name,
          new Map(levelsOf(field).flatMap((level) => [...level])),
        ]),
    };
  });
  return all.filter(({ name, columns }) => name || columns.length > 0);
}

function nameIn(series: Element): string {
  const tx = childOf(series, "tx");
  return tx ? allOf(tx, "v", "t").map(textOf).join(" ") : "";
}

/** Returns the values of a field as the chart shows them, for each of its levels. */
function levelsOf(field: Element): Values[] {
  const isNumber = allOf(field, ...NUMBERS).length > 0;
  const levels = allOf(field, "lvl");
  return (levels.length ? levels : [field]).map((level) => {
    const declared = level.attributes.formatCode ?? textOf(allOf(level, "formatCode")[0]);
    const points = allOf(level, "pt").map((point): [number, string] => {
      const code = point.attributes.formatCode ?? (declared || (isNumber ? "General" : undefined));
      const value = textOf(childOf(point, "v") ?? point);
      return [Number(point.attributes.idx) || 0, code ? numberFormat(code)(value) : value];
    });
    return new Map(points);
  });
}

/** Series of the same categories share a table. */
function tablesOf(all: Series[]): string[] {
  const groups = Map.groupBy(all, ({ categories }) => JSON.stringify(categories.map((level) => [...level])));
  return [...groups.values()].map((group) => {
    const categories = outerFirst((group[0] as Series).categories);
    const columns = group.flatMap(({ name, columns: own }) =>
      own.map(([dimension, values]) => ({
        title: own.length > 1 ? `${name} ${dimension}`.trim() : name,
        values,
      })),
    );
    const rows = new Set([...categories.keys(), ...columns.flatMap(({ values }) => [...values.keys()])]);
    const header = ["", ...columns.map(({ title }) => title)];
    const cells = [...rows]
      .sort((a, b) => a - b)
      .map((at) => [categories.get(at) ?? "", ...columns.map(({ values }) => values.get(at) ?? "")]);
    return markdownTable([header, ...cells]);
  });
}

/** Joins the levels of categories; an outer one is named once for those that it spans. */
function outerFirst([inner = new Map(), ...outer]: Values[]): Values {
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
