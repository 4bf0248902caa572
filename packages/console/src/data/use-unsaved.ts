import { useCallback, useEffect } from "react";
import { type Location, useBeforeUnload, useBlocker } from "react-router";
import { confirm } from "../ui/confirm.tsx";

const UNSAVED = {
  title: "Leave without saving?",
  text: "Your changes on this page will be lost.",
  action: "Leave",
};

/**
 * Asks for confirmation before leaving a page with unsaved changes in any way.
 *
 * @param stays whether the changes are still there at another address; by default at each of the same page
 */
export function useUnsaved(
  isUnsaved: () => boolean,
  { question = UNSAVED, stays = (from: Location, to: Location) => from.pathname === to.pathname } = {},
): void {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) => !stays(currentLocation, nextLocation) && isUnsaved(),
  );
  useBeforeUnload(useCallback((event) => isUnsaved() && event.preventDefault(), [isUnsaved]));
  useEffect(() => {
    if (blocker.state !== "blocked") return;
    void confirm(question).then((wanted) => (wanted ? blocker.proceed() : blocker.reset()));
  }, [blocker, question]);
}
