import { encode } from "uqr";
import "./settings.css";

/** Modules of quiet around the code, by the standard. */
const BORDER = 4;

/** A QR code, dark on light in both themes, as scanners want it. */
export function QrCode({ text }: { text: string }) {
  const { size, data } = encode(text, { border: BORDER });
  const squares = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : "")));
  return (
    <svg
      className="qr-code"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label="QR code with the key below"
    >
      <path fill="#fff" d={`M0 0h${size}v${size}h-${size}z`} />
      <path fill="#000" d={squares.join("")} shapeRendering="crispEdges" />
    </svg>
  );
}
