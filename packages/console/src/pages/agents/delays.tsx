import type { ComponentProps } from "react";
import { TextField } from "../../ui/field.tsx";

/** Edits the seconds before each retry as text, such as `10, 60, 300`; empty: the default. */
export function DelaysField(field: Omit<ComponentProps<typeof TextField>, "label" | "pattern" | "hint">) {
  return (
    <TextField
      label="Retries after, in seconds"
      pattern="\s*[1-9][0-9]*(\s*,\s*[1-9][0-9]*)*\s*"
      {...field}
      hint="Comma-separated, such as 10, 60, 300. The last one repeats."
    />
  );
}

export const formatDelays = (delays: number[] | null): string => delays?.join(", ") ?? "";

export const readDelays = (text: string): number[] | null =>
  text.trim() === "" ? null : text.split(",").map(Number);
