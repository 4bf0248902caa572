import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { TextlintRuleModule } from "@textlint/types";

/** An entry of vocabulary.yml, which explains each field. */
export interface Entry {
  avoid: string;
  say: string;
  why: string;
  bad: string;
  good: string;
}

/** js-yaml brings no types. */
const { load } = createRequire(import.meta.url)("js-yaml") as { load(text: string): unknown };

export const entries = load(
  readFileSync(join(import.meta.dirname, "vocabulary.yml"), "utf8"),
) as readonly Entry[];

const patterns = entries.map((entry) => ({ ...entry, pattern: toPattern(entry.avoid) }));

/** Reports the words of vocabulary.yml in running text; code is none. */
export const vocabulary: TextlintRuleModule = ({ Syntax, RuleError, report, locator }) => ({
  [Syntax.Str](node) {
    for (const { pattern, say, why } of patterns) {
      for (const { 0: found, index } of node.value.matchAll(pattern)) {
        const words = found.trim().replace(/\s+/g, " ");
        const padding = locator.range([index, index + found.length]);
        report(node, new RuleError(`"${words}": say ${say} (${why})`, { padding }));
      }
    }
  },
});

function toPattern(avoid: string): RegExp {
  const words = avoid.replace(/(?<=^|[(|])\^/g, "(?<=^\\s*|[.!?]\\s+)").replaceAll(" ", "\\s+");
  return new RegExp(`(?<![\\w-])(?:${words})(?![\\w-])`, /[A-Z]/.test(avoid) ? "g" : "gi");
}
