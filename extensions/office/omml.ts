import { fraction, grouped, inParentheses, plainSigns, root } from "../../lib/text/formula.ts";

interface Node {
  name: string;
  text: string;
  parts: { name: string; text: string }[];
  settings: Map<string, string>;
}

const newNode = (name: string): Node => ({ name, text: "", parts: [], settings: new Map() });

/** Turns one formula of an Office file into a line of text: `(a+b)/(2)`, `d^2`, `√16`. */
export class Formula {
  readonly #nodes: Node[] = [newNode("oMath")];
  #inText = false;

  open(name: string, value: string | undefined): void {
    if (name === "t") this.#inText = true;
    // Settings such as `m:chr` are within an element of settings: `m:naryPr`.
    if (this.#nodes.at(-1)?.name.endsWith("Pr")) this.#nodes.at(-2)?.settings.set(name, value ?? "");
    this.#nodes.push(newNode(name));
  }

  text(given: string): void {
    if (this.#inText) (this.#nodes.at(-1) as Node).text += given;
  }

  close(name: string): void {
    if (name === "t") this.#inText = false;
    const node = this.#nodes.length > 1 ? (this.#nodes.pop() as Node) : newNode(name);
    this.#nodes.at(-1)?.parts.push({ name: node.name, text: linear(node) });
  }

  end(): string {
    return plainSigns(linear(this.#nodes[0] as Node)).trim();
  }
}

function linear({ name, text, parts, settings }: Node): string {
  const part = (wanted: string) => parts.find((each) => each.name === wanted)?.text.trim() ?? "";
  const all = (wanted: string) =>
    parts.filter((each) => each.name === wanted).map((each) => each.text.trim());
  const script = (mark: string, given: string) => given && mark + grouped(given);
  const set = (key: string, otherwise: string) => settings.get(key) ?? otherwise;
  const isOn = (key: string) => !["0", "false", "off"].includes(set(key, "0"));
  if (name.endsWith("Pr")) return "";
  if (name === "f") {
    const line = set("type", "") === "noBar" ? "¦" : "/";
    return fraction(part("num"), part("den"), line);
  }
  if (name === "sSup" || name === "sSub" || name === "sSubSup")
    return grouped(part("e")) + script("_", part("sub")) + script("^", part("sup"));
  if (name === "sPre") return script("_", part("sub")) + script("^", part("sup")) + grouped(part("e"));
  if (name === "limLow") return grouped(part("e")) + script("_", part("lim"));
  if (name === "limUpp") return grouped(part("e")) + script("^", part("lim"));
  if (name === "rad") {
    const degree = isOn("degHide") ? "" : part("deg");
    return root(part("e"), degree);
  }
  if (name === "nary")
    return `${set("chr", "∫")}${script("_", part("sub"))}${script("^", part("sup"))} ${part("e")}`;
  if (name === "func") return part("fName") + inParentheses(part("e"));
  if (name === "d") return set("begChr", "(") + all("e").join(set("sepChr", "|")) + set("endChr", ")");
  if (name === "eqArr") return all("e").join("; ");
  if (name === "m") return all("mr").join("; ");
  if (name === "mr") return all("e").join(", ");
  if (name === "acc") return part("e") + set("chr", "\u0302");
  return text + parts.map((each) => each.text).join("");
}
