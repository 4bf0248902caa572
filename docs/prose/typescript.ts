import { parseSync } from "@swc/core";
import type { TextlintMessage, TextlintPluginCreator, TextlintPluginProcessor } from "@textlint/types";

interface Span {
  start: number;
  end: number;
}

/** Strings that `+` joins are one text. */
const JOINT = /["'`]\s*\+\s*["'`]/;
const BETWEEN_WORDS = new RegExp(`${JOINT.source}|\\\\.`, "gs");

/** Gives textlint the texts of a TypeScript file: strings, templates, and what JSX shows. */
class Processor implements TextlintPluginProcessor {
  availableExtensions() {
    return [".ts", ".tsx"];
  }

  processor(extension: string) {
    return {
      preProcess: (source: string) => documentOf(source, findTexts(source, extension === ".tsx")),
      postProcess: (messages: TextlintMessage[], file = "") => ({ messages, filePath: file }),
    };
  }
}

export const typescript: TextlintPluginCreator = { Processor };

function documentOf(source: string, texts: Span[]) {
  const strings = texts
    .map(({ start, end }) => ({
      ...place(source, start, end),
      type: "Str" as const,
      value: source.slice(start, end).replace(BETWEEN_WORDS, (blank) => " ".repeat(blank.length)),
    }))
    .filter(({ value }) => /\p{L}\s+\p{L}/u.test(value));
  const children = strings.map((string) => ({
    ...string,
    type: "Paragraph" as const,
    children: [string],
  }));
  return { ...place(source, 0, source.length), type: "Document" as const, children };
}

function findTexts(source: string, tsx: boolean): Span[] {
  const bytes = Buffer.from(source);
  // Spans count bytes, from 1.
  const index = (offset: number) => bytes.toString("utf8", 0, offset - 1).length;
  const texts: Span[] = [];
  const spans = stringsIn(parseSync(source, { syntax: "typescript", tsx, target: "esnext" }));
  for (const { start, end } of spans.sort((a, b) => a.start - b.start)) {
    const text = { start: index(start), end: index(end) };
    const last = texts.at(-1);
    if (last && source.slice(last.end, text.start).replace(JOINT, "") === "") last.end = text.end;
    else texts.push(text);
  }
  return texts;
}

/** The contents of every string below a node, without quotes. */
function stringsIn(node: unknown): Span[] {
  if (typeof node !== "object" || node === null) return [];
  const { type, span } = node as { type?: string; span?: Span };
  if (span && type === "StringLiteral") return [{ start: span.start + 1, end: span.end - 1 }];
  if (span && (type === "TemplateElement" || type === "JSXText")) return [{ ...span }];
  return Object.values(node).flatMap(stringsIn);
}

function place(source: string, start: number, end: number) {
  const position = (at: number) => {
    const lines = source.slice(0, at).split("\n");
    return { line: lines.length, column: lines.at(-1)?.length ?? 0 };
  };
  return {
    raw: source.slice(start, end),
    range: [start, end] as const,
    loc: { start: position(start), end: position(end) },
  };
}
