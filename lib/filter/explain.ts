import { nearest } from "../contract/nearest.ts";
import { FilterError, functionNames } from "./cel.ts";
import { OWN } from "./names.ts";

/** Adds to the error of a filter what its author may have meant: most write another language than CEL. */
export function explain(error: FilterError, expression: string): FilterError {
  const hint = hintOnType(error, expression) ?? hintOnFunction(error) ?? hintOnSyntax(error, expression);
  return hint ? new FilterError(`${error.message}: ${hint}`, error.position) : error;
}

/** The filter uses a name of CEL, such as `type`, as a variable. */
function hintOnType({ message, position }: FilterError, expression: string): string | undefined {
  const name = /^[a-z]+(?![\w(])/.exec(expression.slice(position))?.[0];
  if (!name || !/\btype\b/.test(message) || !OWN.has(name)) return undefined;
  const meant = name === "type" ? "`event.type` or `data.type`" : `\`data.${name}\``;
  return `\`${name}\` is a type of CEL. Did you mean ${meant}?`;
}

/** Functions of other languages, and how CEL writes them. */
const FUNCTIONS: Record<string, string> = {
  len: "size(x)",
  length: "size(x)",
  count: "size(x)",
  includes: "'item' in list` or `text.contains('part')",
  has_key: "'key' in map",
  lower: "lowerAscii()",
  toLowerCase: "lowerAscii()",
  upper: "upperAscii()",
  toUpperCase: "upperAscii()",
  any: "list.exists(x, …)",
  some: "list.exists(x, …)",
  every: "list.all(x, …)",
};

function hintOnFunction({ message }: FilterError): string | undefined {
  const name = /no matching overload for '(?:.*\.)?(\w+)\(/.exec(message)?.[1];
  if (name === undefined) return undefined;
  const known = functionNames();
  if (known.includes(name)) return undefined;
  const written = FUNCTIONS[name] ?? nearest(name, known)?.name;
  return `CEL has no function \`${name}\`. Did you mean \`${written}\`?`;
}

const NOT = "write `!` for not";

/** The text at the error, and how CEL writes it. */
const SYNTAX: readonly [RegExp, string][] = [
  [/^and\b/i, "write `&&` for and"],
  [/^or\b/i, "write `||` for or"],
  [/^not\b/i, NOT],
  [/^is\b/i, "write `==` for is"],
  [/^like\b/i, "write `text.contains('part')` or `text.matches('regex')`"],
  [/^contains\b/i, "write `text.contains('part')`, or `'item' in list`"],
  [/^=~/, "write `text.matches('regex')`"],
  [/^[$@]\.?/, "`data` is the event's data, as in `data.total`"],
  [/^=/, "`==` and `!=` compare"],
  [/^>/, "write `!=` for not equal"],
  [/^&/, "write `&&` for and"],
  [/^\|/, "write `||` for or"],
  [/^\*/, "write `list.exists(x, …)` or `list.all(x, …)` for items"],
  [/^,/, "a list has brackets: `['a', 'b']`"],
];

function hintOnSyntax({ position }: FilterError, expression: string): string | undefined {
  if (/\bnot\s+$/i.test(expression.slice(0, position))) return NOT;
  // The parser fails inside a word whose first letters could begin a literal.
  const word = /\w*$/.exec(expression.slice(0, position))?.[0] ?? "";
  const rest = expression.slice(position - word.length);
  return SYNTAX.find(([form]) => form.test(rest))?.[1];
}
