/** No vowels and nothing that is read as something else (spec: code lookup). */
const ALPHABET = "BCDFGHJKMNPQRSTVWXYZ23456789";
const LENGTH = 8;

/** XXXX-XXXX, about 38 bits. */
export const USER_CODE_PATTERN = `^[${ALPHABET}]{4}-[${ALPHABET}]{4}$`;

/** How many random bytes a code is made from: far more than it holds, so that no character is likelier by much. */
export const USER_CODE_BYTES = 16;

/** The code that these bytes stand for. */
export function userCode(random: Buffer): string {
  let rest = BigInt(`0x${random.toString("hex")}`);
  let text = "";
  while (text.length < LENGTH) {
    text += ALPHABET[Number(rest % BigInt(ALPHABET.length))];
    rest /= BigInt(ALPHABET.length);
  }
  return `${text.slice(0, LENGTH / 2)}-${text.slice(LENGTH / 2)}`;
}
