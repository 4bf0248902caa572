import { useEffect, useState } from "react";
import { api } from "../data/api.ts";
import { useIsLost } from "../data/live.ts";
import { useLoad } from "../data/use-load.ts";

/** A restart takes less. */
const PATIENCE_MS = 6000;

/** Tells that a page which follows the server does so no more. That the session is over may be why: it asks once. */
export function Lost() {
  const isLost = useIsLost();
  const [told, setTold] = useState(false);
  useEffect(() => {
    if (!isLost) return;
    const timer = setTimeout(() => setTold(true), PATIENCE_MS);
    return () => {
      clearTimeout(timer);
      setTold(false);
    };
  }, [isLost]);
  useLoad((signal) => (told ? api.auth.session({}, { signal }) : Promise.resolve(null)), [told]);
  return (
    <div role="status" className="lost">
      {told && (
        <p className="notice warn">
          The server does not answer: what is shown may not be how things stand. It goes on by itself.
        </p>
      )}
    </div>
  );
}
