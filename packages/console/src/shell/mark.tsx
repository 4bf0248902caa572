/** The product's mark: signals arrive from many sides and are felt in one place. */
export function Mark({ size = 24 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#4f46e5" />
      <g fill="none" stroke="#fff" strokeWidth="2.4" strokeLinecap="round">
        <path d="M7 9c6 0 6 7 11 7M7 23c6 0 6-7 11-7M7 16h11" />
      </g>
      <circle cx="22" cy="16" r="3.6" fill="#fff" />
    </svg>
  );
}
