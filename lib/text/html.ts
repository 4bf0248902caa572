import { Parser } from "htmlparser2";
import { Blocks } from "./blocks.ts";
import { INLINE_ELEMENTS, SPACED_ELEMENTS, tags } from "./html-elements.ts";
import { isMath, MathReader } from "./mathml.ts";

/** Elements whose content browsers do not show as text. */
const UNSEEN = tags("script style noscript template svg object iframe select datalist rp canvas audio video");
/** Kinds of those of them that show something. */
const LOST: Record<string, string> = {
  ...{ svg: "picture", canvas: "picture", object: "embedded object", iframe: "frame" },
  ...{ audio: "sound", video: "video" },
};
const PARAGRAPHS = tags(
  "address article aside blockquote center details dialog div dl fieldset figure footer form header hgroup hr listing " +
    "main menu nav ol p plaintext pre search section title ul",
);
const PREFORMATTED = tags("pre listing plaintext textarea xmp");
const LISTS = tags("ul ol menu dir");
const BLOCK_STYLE = /(?:^|;)\s*display\s*:\s*(?:block|flex|grid|table|list-item|flow-root)/i;
const SLICE = 65_536;

type Attributes = Record<string, string>;

/** Returns a page's visible text as Markdown, its title first. @param lose gets the kind of what is seen but no text */
export function htmlText(html: string, lose: (kind: string) => void = () => {}): string {
  const reader = new HtmlReader(lose);
  const parser = new Parser({
    onopentag: (name, attributes) => reader.open(name, attributes),
    onclosetag: (name) => reader.close(name),
    ontext: (value) => reader.text(value),
  });
  for (let at = 0; at < html.length; at += SLICE) parser.write(html.slice(at, at + SLICE));
  parser.end();
  return reader.end();
}

class HtmlReader {
  readonly #blocks = new Blocks();
  /** Open elements inside an unseen one, with it. */
  #unseen = 0;
  #preformatted = 0;
  /** Next numbers of the open lists; null: without numbers. */
  readonly #lists: (number | null)[] = [];
  /** Of each open element, whether its style makes it a block. */
  readonly #styled: boolean[] = [];
  readonly #readings: string[] = [];
  readonly #spans: [columns: number, rows: number][] = [];
  #math: MathReader | undefined;
  readonly #lose: (kind: string) => void;

  constructor(lose: (kind: string) => void) {
    this.#lose = lose;
  }

  open(name: string, attributes: Attributes): void {
    const isOutside = this.#unseen || isHidden(name, attributes);
    if (isOutside || UNSEEN.has(name)) {
      const lost = isOutside ? undefined : LOST[name];
      if (lost) this.#lose(lost);
      this.#unseen++;
      return;
    }
    const blocks = this.#blocks;
    if (this.#math) {
      this.#math.open(name, attributes);
      return;
    }
    if (isMath(name)) {
      this.#math = new MathReader(attributes);
      return;
    }
    const isBlock = BLOCK_STYLE.test(attributes.style ?? "");
    this.#styled.push(isBlock);
    if (isBlock) blocks.break(1);
    if (PREFORMATTED.has(name)) this.#preformatted++;
    if (/^h[1-6]$/.test(name)) blocks.heading(Number(name[1]));
    else if (name === "br") blocks.lineBreak();
    else if (name === "li") this.#item(attributes);
    else if (name === "table") blocks.openTable();
    else if (name === "tr") blocks.openRow();
    else if (name === "td" || name === "th") {
      this.#spans.push([Number(attributes.colspan) || 1, Number(attributes.rowspan) || 1]);
      blocks.openCell();
    } else if (name === "ruby") {
      this.#readings.push("");
      blocks.openRuby();
    } else if (isReading(name) && this.#readings.length) blocks.aside();
    else this.#divide(name);
    if (name === "img" && attributes.alt) blocks.collapsed(` ${attributes.alt} `);
    // An empty description says that the picture means nothing.
    else if (name === "img" && attributes.alt === undefined) this.#lose("picture");
    if (LISTS.has(name)) this.#lists.push(name === "ol" ? Number(attributes.start ?? 1) || 0 : null);
  }

  close(name: string): void {
    if (this.#unseen) {
      this.#unseen--;
      return;
    }
    if (this.#math) {
      if (this.#math.close(name)) this.#closeMath();
      return;
    }
    const blocks = this.#blocks;
    if (this.#styled.pop()) blocks.break(1);
    if (PREFORMATTED.has(name)) this.#preformatted--;
    if (LISTS.has(name)) this.#lists.pop();
    if (/^h[1-6]$/.test(name)) blocks.endBlock(2);
    else if (name === "br") return;
    else if (name === "li") blocks.endBlock(1);
    else if (name === "table") blocks.closeTable();
    else if (name === "tr") blocks.closeRow();
    else if (name === "td" || name === "th") blocks.closeCell(...(this.#spans.pop() ?? [1, 1]));
    else if (name === "ruby") blocks.closeRuby(this.#readings.pop() ?? "");
    else if (isReading(name) && this.#readings.length)
      this.#readings.push(this.#readings.pop() + blocks.take());
    else this.#divide(name);
  }

  text(value: string): void {
    if (this.#unseen) return;
    if (this.#math) this.#math.text(value);
    else if (this.#preformatted) this.#blocks.text(value.replace(/\r\n?/g, "\n"));
    else this.#blocks.collapsed(value);
  }

  end(): string {
    this.#closeMath();
    return this.#blocks.end();
  }

  #closeMath(): void {
    const math = this.#math;
    if (!math) return;
    this.#math = undefined;
    if (math.isBlock) this.#blocks.break(1);
    this.#blocks.collapsed(math.end());
    if (math.isBlock) this.#blocks.break(1);
  }

  #divide(name: string): void {
    if (INLINE_ELEMENTS.has(name)) return;
    if (SPACED_ELEMENTS.has(name) || name.includes("-")) this.#blocks.collapsed(" ");
    else if (LISTS.has(name) && this.#lists.length) this.#blocks.break(1);
    else this.#blocks.break(PARAGRAPHS.has(name) ? 2 : 1);
  }

  #item({ value }: Attributes): void {
    const depth = Math.max(0, this.#lists.length - 1);
    const next = this.#lists[depth];
    if (typeof next !== "number") this.#blocks.item("-", depth);
    else {
      const number = value === undefined ? next : Number(value) || 0;
      this.#lists[depth] = number + 1;
      this.#blocks.item(`${number}.`, depth);
    }
  }
}

const isReading = (name: string) => name === "rt" || name === "rtc";

function isHidden(name: string, attributes: Attributes): boolean {
  if (name === "body" || name === "html") return false;
  const { hidden, style = "", open } = attributes;
  if (hidden !== undefined || attributes["aria-hidden"]?.trim().toLowerCase() === "true") return true;
  if (name === "dialog" && open === undefined) return true;
  return /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))\b/i.test(style);
}
