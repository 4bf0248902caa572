import { useEffect, useState } from "react";
import { api } from "../data/api.ts";
import { useIsLost } from "../data/live.ts";
import { useLoad } from "../data/use-load.ts";

/** Longer than a restart. */
const GRACE_MS = 6000;

/** Warns that the page no longer follows the server. Checks once whether the session is over. */
export function Lost() {
  const isLost = useIsLost();
  const [told, setTold] = useState(false);
  useEffect(() => {
    if (!isLost) return;
    const timer = setTimeout(() => setTold(true), GRACE_MS);
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
          The server is not responding. This page may be out of date; it updates when the connection is back.
        </p>
      )}
    </div>
  );
}
