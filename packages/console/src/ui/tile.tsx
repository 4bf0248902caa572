import type { ReactNode } from "react";
import "./tile.css";

interface TileProps {
  name: string;
  value: string;
  /** Below the value: its meaning or a link. */
  note: ReactNode;
  tone?: "bad" | "warn" | undefined;
}

/** One important number. */
export function Tile({ name, value, note, tone }: TileProps) {
  return (
    <section className="tile" aria-label={name}>
      <p className="tile-name">{name}</p>
      <p className={tone ? `tile-value ${tone}` : "tile-value"}>{value}</p>
      <p className="tile-note">{note}</p>
    </section>
  );
}
