import {
  comparable,
  lineOf,
  type MetadataCondition,
  type MetadataRange,
  unpackMetadata,
} from "../../../lib/filter/metadata.ts";

/** Hexadecimal digits of a number. */
const DIGITS = 16;
const SIGN = 1n << 63n;
const ALL = (1n << 64n) - 1n;

/**
 * Returns the labels of an entry's metadata. The filter of a vector search knows no range of one element of a list, so
 * a number, or a time, has a label for each beginning of its digits: a range is then one of a few labels.
 */
export function metadataLabels(packed: string): string[] {
  return [...unpackMetadata(packed)].flatMap(({ line, key, value }) => {
    const text = comparable(value);
    if (!text) return [line];
    const digits = orderOf(text.at).toString(16).padStart(DIGITS, "0");
    const beginnings = Array.from({ length: DIGITS + 1 }, (_, n) => digits.slice(0, n));
    return [line, ...beginnings.map((beginning) => labelOf(key, text.of, beginning))];
  });
}

/** Returns labels. An entry must have one of them. */
export function labelsFor(condition: MetadataCondition): string[] {
  const { key } = condition;
  if ("in" in condition) return condition.in.map((value) => lineOf(key, value));
  const { least, most } = boundsOf(condition);
  return [...coverOf("", least, most)].map((beginning) => labelOf(key, condition.of, beginning));
}

const labelOf = (key: string, of: MetadataRange["of"], digits: string) =>
  `${JSON.stringify(key)}:${of} ${digits}`;

function boundsOf({ gt, gte, lt, lte }: MetadataRange): { least: bigint; most: bigint } {
  const least = [gt === undefined ? 0n : orderOf(gt) + 1n, gte === undefined ? 0n : orderOf(gte)];
  const most = [lt === undefined ? ALL : orderOf(lt) - 1n, lte === undefined ? ALL : orderOf(lte)];
  return { least: least.reduce((a, b) => (a > b ? a : b)), most: most.reduce((a, b) => (a < b ? a : b)) };
}

/** Yields the beginnings of digits that together are this range. */
function* coverOf(beginning: string, least: bigint, most: bigint): Generator<string> {
  const unit = 1n << BigInt(4 * (DIGITS - beginning.length));
  const first = BigInt(`0x0${beginning}`) * unit;
  const last = first + unit - 1n;
  if (last < least || first > most) return;
  if (first >= least && last <= most) yield beginning;
  else for (const digit of "0123456789abcdef") yield* coverOf(beginning + digit, least, most);
}

/** Returns a number as an integer of 64 bits, in the same order. */
function orderOf(value: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  // -0 is 0.
  view.setFloat64(0, value + 0);
  const bits = view.getBigUint64(0);
  return bits & SIGN ? ALL ^ bits : bits | SIGN;
}
