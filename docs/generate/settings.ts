import { ALL_SETTINGS } from "../../services/extensions.ts";

/** Larger maximums only keep integers exact and are not shown. */
const UNBOUNDED = 1e9;

interface Row {
  kind: string;
  default: unknown;
  means: string;
  min?: number;
  max?: number;
  oneOf?: readonly string[];
}

/** The table of all settings in Markdown, as `config.ts` declares them. */
export function settingsTable(): string {
  const rows = Object.entries(ALL_SETTINGS as Record<string, Row>).map(
    ([name, setting]) => `| \`${name}\` | ${defaultOf(setting)} | ${setting.means}${rangeOf(setting)} |`,
  );
  return ["| Variable | Default | Meaning |", "|---|---|---|", ...rows].join("\n");
}

function defaultOf(setting: Row): string {
  const value = setting.default;
  const none = value === null || (Array.isArray(value) && value.length === 0);
  return none ? "" : `\`${String(value)}\``;
}

function rangeOf({ kind, min, max, oneOf }: Row): string {
  if (oneOf) return ` One of ${oneOf.map((value) => `\`${value}\``).join(", ")}.`;
  if (kind !== "integer" && kind !== "number") return "";
  return (max as number) >= UNBOUNDED ? ` (at least ${min})` : ` (${min} to ${max})`;
}
