import { type Context, text } from "./command.ts";
import { UsageError } from "./usage.ts";

const UNITS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Returns the time of `--at` or `--in` as ISO 8601, if one is given. @throws UsageError */
export function readTime(context: Context): string | undefined {
  const at = text(context, "at");
  const span = text(context, "in");
  if (at !== undefined && span !== undefined) throw new UsageError("Give --at or --in, not both.");
  if (span !== undefined) return new Date(Date.now() + parseSpan("in", span)).toISOString();
  if (at === undefined) return undefined;
  const time = Date.parse(at);
  if (Number.isNaN(time))
    throw new UsageError(
      `--at is ${at}: expected a time like 2026-12-31T18:00:00+01:00 or 2026-12-31 18:00.`,
    );
  return new Date(time).toISOString();
}

/** Returns the milliseconds of an option such as `90s`. @throws UsageError */
export function readDuration(context: Context, name: string, fallback: string): number {
  return parseSpan(name, text(context, name) ?? fallback);
}

function parseSpan(name: string, span: string): number {
  const [, count, unit] = /^(\d{1,7})\s*([smhd])$/.exec(span) ?? [];
  if (count === undefined)
    throw new UsageError(`--${name} is ${span}: expected a duration like 90s, 15m, 2h or 7d.`);
  return Number(count) * (UNITS[unit as string] as number);
}
