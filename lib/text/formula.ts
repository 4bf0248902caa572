/** Styled letters of formulas, and signs that show nothing. */
const STYLED = /[\u{1d400}-\u{1d7ff}]/gu;
const INVISIBLE = /[\u2061-\u2064]/g;
const ROOTS: Record<string, string> = { "": "√", 2: "√", 3: "∛", 4: "∜" };
/** Marks that follow their base as they are: primes, degrees. */
const RAISED_MARK = /^(?:[′″‴‵'*†‡°∘]+|%)$/u;

export const plainSigns = (text: string) =>
  text.replace(INVISIBLE, "").replace(STYLED, (letter) => letter.normalize("NFKC"));

export const fraction = (above: string, below: string, line = "/") =>
  `${inParentheses(above)}${line}${inParentheses(below)}`;

export const root = (content: string, degree = "") =>
  `${ROOTS[degree] ?? `${inParentheses(degree)}√`}${grouped(content)}`;

export const scripts = (sub: string, sup: string) => {
  const below = sub && `_${grouped(sub)}`;
  return RAISED_MARK.test(sup) ? below + sup.replaceAll("∘", "°") : below + (sup && `^${grouped(sup)}`);
};

/** Returns one number, word or sign as it is, and more in parentheses. */
export const grouped = (text: string) =>
  /^(?:[\p{L}\p{M}]+|[\d.,]+|.)$/u.test(text) ? text : inParentheses(text);

export function inParentheses(text: string): string {
  let depth = 0;
  const isOne =
    text.startsWith("(") &&
    [...text].every((sign, at, signs) => {
      depth += sign === "(" ? 1 : sign === ")" ? -1 : 0;
      return depth > 0 || at === signs.length - 1;
    });
  return isOne && depth === 0 ? text : `(${text})`;
}
