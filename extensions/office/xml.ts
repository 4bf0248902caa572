import { Parser } from "htmlparser2";
import { UnreadableError } from "../../services/remember/documents/parsers/page.ts";

/** An element of a part. Its name is without the prefix, which each file chooses. */
export interface Element {
  name: string;
  attributes: Record<string, string>;
  children: (Element | string)[];
}

const newElement = (name = "", attributes = {}): Element => ({ name, attributes, children: [] });

const SLICE = 65_536;
/** Deeper than any real document. */
const MAX_DEPTH = 1000;

/** Returns the root of a part; an empty element if the part is absent. */
export function parseXml(bytes: Uint8Array | undefined): Element {
  let root = newElement();
  const keep = (element: Element) => {
    root = element;
  };
  readElements(bytes, () => true, keep);
  return root;
}

/**
 * Parses a part of an Office file, and calls `use` with each outermost element of the wanted names: others are not kept,
 * and none longer than that. What is around them is told to `around`. Refuses entities that the file declares, and so entity attacks.
 */
export function readElements(
  bytes: Uint8Array = new Uint8Array(),
  isWanted: (name: string) => boolean,
  use: (element: Element) => void,
  around: { open?(name: string): void; close?(name: string): void } = {},
): void {
  /** The open elements, from a wanted one on. */
  const open: Element[] = [];
  let depth = 0;
  const parser = new Parser(
    {
      onopentag(tag, attributes) {
        if (++depth > MAX_DEPTH) throw new UnreadableError("is nested too deeply");
        const element = newElement(localName(tag), attributes);
        const parent = open.at(-1);
        if (!parent && !isWanted(element.name)) return around.open?.(element.name);
        if (parent && !isOtherVersion(element, parent)) parent.children.push(element);
        open.push(element);
      },
      onclosetag(tag) {
        depth--;
        const element = open.pop();
        if (!element) around.close?.(localName(tag));
        else if (!open.length) use(element);
      },
      ontext: (text) => open.at(-1)?.children.push(text),
      onprocessinginstruction(name) {
        if (/^!doctype/i.test(name)) {
          throw new UnreadableError("declares a document type, which Office files never do");
        }
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  const decoder = new TextDecoder(detectEncoding(bytes));
  for (let at = 0; at < bytes.length; at += SLICE) {
    parser.write(decoder.decode(bytes.subarray(at, at + SLICE), { stream: true }));
  }
  parser.end();
}

const VERSIONS = new Set(["Choice", "Fallback"]);

/** Of a text that a file has for newer and older programs (`mc:AlternateContent`), the first version is read. */
const isOtherVersion = ({ name }: Element, parent: Element) =>
  VERSIONS.has(name) &&
  parent.name === "AlternateContent" &&
  childrenOf(parent).some((child) => VERSIONS.has(child.name));

const localName = (name: string) => name.slice(name.indexOf(":") + 1);

function detectEncoding([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
}

/** Returns an attribute by its name without prefix: each file may choose another. */
export function attributeOf({ attributes }: Element, key: string): string | undefined {
  for (const name in attributes) if (localName(name) === key) return attributes[name];
  return undefined;
}

/** An element that ticks, hides or counts says so without a value, too: `<w:vanish/>`. */
export const isOn = (value = "") => !["0", "false", "off", "none"].includes(value);

export const childrenOf = ({ children }: Element) => children.filter((child) => typeof child !== "string");

export const childOf = (element: Element | undefined, name: string) =>
  element && childrenOf(element).find((child) => child.name === name);

/** Returns an element and all within it that have one of these names, in the order of the file. */
export function allOf(element: Element, ...names: string[]): Element[] {
  const within = childrenOf(element).flatMap((child) => allOf(child, ...names));
  return names.includes(element.name) ? [element, ...within] : within;
}

/** Returns the value (`w:val`) of the first setting of a name within an element; "" if that has none. */
export function settingIn(element: Element | undefined, name: string): string | undefined {
  const [setting] = element ? allOf(element, name) : [];
  return setting && (attributeOf(setting, "val") ?? "");
}

/** Returns all text within an element; "" without one. */
export const textOf = (element: Element | undefined): string =>
  element?.children.map((child) => (typeof child === "string" ? child : textOf(child))).join("") ?? "";

/**
 * Returns what is written in an element: the texts of `t`, with a space after each paragraph, without phonetic hints.
 *
 * @param isOther whether elements of a name are left out
 */
export function writtenIn(element: Element, isOther = (_name: string) => false): string {
  const within = childrenOf(element);
  // Diagrams have paragraphs in an element of this name.
  if (element.name === "t" && !within.length) return textOf(element);
  const shown = within.filter(({ name }) => name !== "rPh" && !isOther(name));
  const text = shown.map((child) => writtenIn(child, isOther)).join("");
  return element.name === "p" || element.name === "br" ? `${text} ` : text;
}

export const singleSpaced = (text: string) => text.replace(/\s+/g, " ").trim();
