/** No vowels and no characters that can be confused (spec: code lookup). */
const ALPHABET = "BCDFGHJKMNPQRSTVWXYZ23456789";
const LENGTH = 8;

/** XXXX-XXXX, about 38 bits. */
export const USER_CODE_PATTERN = `^[${ALPHABET}]{4}-[${ALPHABET}]{4}$`;

/** Random bytes for a code: far more than it holds, so that the characters are almost equally likely. */
export const USER_CODE_BYTES = 16;

/** Returns the code for these bytes. */
export function userCode(random: Buffer): string {
  let rest = BigInt(`0x${random.toString("hex")}`);
  let text = "";
  while (text.length < LENGTH) {
    text += ALPHABET[Number(rest % BigInt(ALPHABET.length))];
    rest /= BigInt(ALPHABET.length);
  }
  return `${text.slice(0, LENGTH / 2)}-${text.slice(LENGTH / 2)}`;
}
