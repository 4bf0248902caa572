import { converted, text } from "../../ui/form.tsx";

/** Edits the seconds before each retry as text, such as `10, 60, 300`; null for the default. */
export const delays = (placeholder: string) =>
  converted<number[] | null>(
    text("Retries after, in seconds", {
      pattern: "\\s*[1-9][0-9]*(\\s*,\\s*[1-9][0-9]*)*\\s*",
      placeholder,
      hint: "Comma-separated, such as 10, 60, 300. The last one repeats.",
    }),
    (seconds) => seconds?.join(", ") ?? "",
    (draft) => (draft.trim() === "" ? null : draft.split(",").map(Number)),
  );
