import { fraction, grouped, inParentheses, plainSigns, root } from "../../lib/text/formula.ts";
import { childrenOf, type Element, settingIn, textOf } from "./xml.ts";

/** Deleted and moved away. */
const GONE = new Set(["del", "moveFrom"]);

/** Turns one formula of an Office file into a line of text: `(a+b)/(2)`, `d^2`, `√16`. */
export const formulaText = (formula: Element) => plainSigns(linear(formula)).trim();

function linear(element: Element): string {
  const { name } = element;
  const children = childrenOf(element);
  const all = (wanted: string) =>
    children.filter((each) => each.name === wanted).map((each) => linear(each).trim());
  const part = (wanted: string) => all(wanted)[0] ?? "";
  const script = (mark: string, content: string) => content && mark + grouped(content);
  const settings = children.find((each) => each.name.endsWith("Pr"));
  const set = (key: string, otherwise: string) => settingIn(settings, key) ?? otherwise;
  const isOn = (key: string) => !["0", "false", "off"].includes(set(key, "0"));
  if (name.endsWith("Pr") || GONE.has(name)) return "";
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
  return name === "t" ? textOf(element) : children.map(linear).join("");
}
