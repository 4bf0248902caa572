import { fraction, grouped, plainSigns, root, scripts } from "./formula.ts";

type Attributes = Record<string, string>;

interface Element {
  name: string;
  attributes: Attributes;
  parts: Part[];
}

/** The linear text of an element or of the text between elements. */
interface Part {
  name: string;
  text: string;
  /** Whether it is a fraction, root or script, which a letter or number after it would lengthen. */
  isBuilt?: boolean;
}

const TOKENS = new Set("mi mn mo mtext ms ci cn".split(" "));
const UNSEEN = new Set("annotation annotation-xml mphantom maligngroup malignmark".split(" "));
/** Signs above a letter, and the marks that combine with it. */
const ACCENTS: Record<string, string> = {
  "¯": "\u0304",
  "‾": "\u0304",
  "^": "\u0302",
  ˆ: "\u0302",
  "~": "\u0303",
  "˜": "\u0303",
  "˙": "\u0307",
  "¨": "\u0308",
  "→": "\u20d7",
};

/** Turns one `<math>` into a line of text: `(a+b)/(2)`, `d^2`, `√16`. */
export class MathReader {
  readonly isBlock: boolean;
  readonly #elements: Element[] = [];

  constructor(attributes: Attributes) {
    this.isBlock = attributes.display === "block";
    this.#push("math", attributes);
  }

  open(name: string, attributes: Attributes): void {
    this.#push(local(name), attributes);
  }

  text(value: string): void {
    (this.#elements.at(-1) as Element).parts.push({ name: "", text: value });
  }

  /** Ends an element. @returns whether it was the formula itself */
  close(name: string): boolean {
    if (local(name) === "math") return true;
    const element = this.#elements.length > 1 ? this.#elements.pop() : undefined;
    if (element) (this.#elements.at(-1) as Element).parts.push(linear(element));
    return false;
  }

  end(): string {
    while (this.#elements.length > 1) this.close("");
    const [math] = this.#elements as [Element];
    return plainSigns(linear(math).text).trim() || (math.attributes.alttext ?? "");
  }

  #push(name: string, attributes: Attributes): void {
    this.#elements.push({ name, attributes, parts: [] });
  }
}

export const isMath = (name: string) => local(name) === "math";

const local = (name: string) => name.slice(name.indexOf(":") + 1);

function linear({ name, attributes, parts: children }: Element): Part {
  if (UNSEEN.has(name)) return { name, text: "" };
  if (name === "mspace") return { name, text: " " };
  if (TOKENS.has(name)) {
    const text = children.map((part) => part.text).join("");
    return { name, text: collapsed(name === "mtext" ? text : text.trim()) };
  }
  const parts = children.filter((part) => part.name || part.text.trim());
  const at = (index: number) => parts[index]?.text ?? "";
  const built = (text: string) => ({ name, text, isBuilt: true });
  const list = (separator: string) => ({ name, text: parts.map(({ text }) => text).join(separator) });
  switch (name) {
    case "mfrac":
      return built(fraction(at(0), at(1), /^0(?:\D|$)/.test(attributes.linethickness ?? "") ? "¦" : "/"));
    case "mroot":
      return built(root(at(0), at(1)));
    case "msub":
    case "munder":
      return built(base(at(0)) + scripts(at(1), ""));
    case "mover":
      if (ACCENTS[at(1)]) return { name, text: at(0).length === 1 ? at(0) + ACCENTS[at(1)] : at(0) };
      return built(base(at(0)) + scripts("", at(1)));
    case "msup":
      return built(base(at(0)) + scripts("", at(1)));
    case "msubsup":
    case "munderover":
      return built(base(at(0)) + scripts(at(1), at(2)));
    case "mmultiscripts":
      return built(multiscripts(parts));
    case "mfenced": {
      const { open = "(", close = ")", separators = "," } = attributes;
      const signs = [...separators.replace(/\s/g, "")];
      const inner = parts.map(({ text }, i) => (i ? (signs[i - 1] ?? signs.at(-1) ?? "") : "") + text);
      return { name, text: open + inner.join("") + close };
    }
    case "mtable":
      return list("; ");
    case "mtr":
    case "mlabeledtr":
      return list(", ");
    case "semantics":
    case "maction":
      return parts[0] ?? { name, text: "" };
  }
  const row = joined(parts);
  if (name === "msqrt" || (name === "menclose" && attributes.notation === "radical")) return built(root(row));
  return { name, text: row, isBuilt: parts.at(-1)?.isBuilt };
}

const base = (text: string) => text && grouped(text);

const collapsed = (text: string) => text.replace(/\s+/g, " ");

/** The base, pairs of scripts behind it, and after `mprescripts` pairs before it. */
function multiscripts(parts: Part[]): string {
  const before = parts.findIndex(({ name }) => name === "mprescripts");
  const pairs = (from: number, to: number) => {
    const pair = [];
    for (let i = from; i < to; i += 2) pair.push(scripts(parts[i]?.text ?? "", parts[i + 1]?.text ?? ""));
    return pair.join("");
  };
  const end = before < 0 ? parts.length : before;
  return (before < 0 ? "" : pairs(before + 1, parts.length)) + base(parts[0]?.text ?? "") + pairs(1, end);
}

/** Puts a space between words, numbers, and a fraction, root or script and what follows it. */
function joined(parts: Part[]): string {
  let text = "";
  let isBuilt = false;
  for (const part of parts) {
    const next = plainSigns(part.text);
    if (next === "") continue;
    const isWord = part.name !== "mn" && (next.length > 1 || /\p{L}{2}$/u.test(text));
    const isDivided = isBuilt
      ? /^[\p{L}\p{N}√∛∜]/u.test(next)
      : /\d$/.test(text)
        ? /^\d/.test(next)
        : isWord && /\p{L}$/u.test(text) && /^\p{L}/u.test(next);
    text += isDivided ? ` ${next}` : next;
    isBuilt = part.isBuilt ?? false;
  }
  return text;
}
