import type { ReactNode } from "react";

export type Tone = "neutral" | "good" | "warn" | "bad" | "info" | "accent";

/** A state in a word. */
export function Badge({ label, tone = "neutral", dot }: { label: ReactNode; tone?: Tone; dot?: boolean }) {
  return (
    <span className={`badge ${tone}`}>
      {dot && <span className="dot" aria-hidden />}
      {label}
    </span>
  );
}
