/** No vowels and no characters that can be confused (spec: code lookup). */
const ALPHABET = "BCDFGHJKMNPQRSTVWXYZ23456789";
const LENGTH = 8;

const TYPED = "[A-Za-z0-9]{4}";

/** XXXX-XXXX, about 38 bits, as people type it: in any case, and with a hyphen, a space or nothing between. */
export const USER_CODE_PATTERN = `^ *${TYPED}[ ‐-―-]*${TYPED} *$`;

/** Returns the code that a person has typed: O counts as 0, I and L as 1, though no code has any of them. */
export function canonicalUserCode(typed: string): string {
  const letters = typed.toUpperCase().replace(/[^A-Z0-9]/g, "");
  const code = letters.replaceAll("O", "0").replace(/[IL]/g, "1");
  return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;
}

/** Random bytes for a code: far more than it holds, so that the characters are almost equally likely. */
export const USER_CODE_BYTES = 16;

export function userCode(random: Buffer): string {
  let rest = BigInt(`0x${random.toString("hex")}`);
  let text = "";
  while (text.length < LENGTH) {
    text += ALPHABET[Number(rest % BigInt(ALPHABET.length))];
    rest /= BigInt(ALPHABET.length);
  }
  return `${text.slice(0, LENGTH / 2)}-${text.slice(LENGTH / 2)}`;
}
