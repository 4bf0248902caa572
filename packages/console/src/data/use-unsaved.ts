import { useCallback, useEffect } from "react";
import { useBeforeUnload, useBlocker } from "react-router";
import { confirm } from "../ui/confirm.tsx";

/** Asks for confirmation before leaving a page with unsaved changes in any way. */
export function useUnsaved(isUnsaved: () => boolean): void {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) => currentLocation.pathname !== nextLocation.pathname && isUnsaved(),
  );
  useBeforeUnload(useCallback((event) => isUnsaved() && event.preventDefault(), [isUnsaved]));
  useEffect(() => {
    if (blocker.state !== "blocked") return;
    void confirm({
      title: "Leave without saving?",
      text: "Your changes on this page will be lost.",
      action: "Leave",
    }).then((wanted) => (wanted ? blocker.proceed() : blocker.reset()));
  }, [blocker]);
}
