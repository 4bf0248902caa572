import type { ReactNode } from "react";

/** A list of an agent's private work, with the note that reading it is recorded. It does not follow changes: each look counts. */
export function Audited({ children }: { children: ReactNode }) {
  return (
    <div className="stack">
      <p className="muted small">
        Only admins and the owner can read these. Each view is recorded in the audit log.
      </p>
      {children}
    </div>
  );
}
