import { useEffect, useRef } from "react";

/**
 * For lists: if the focused element disappears, such as a deleted row or the button for more, moves the focus to the
 * list instead of the start of the page.
 */
export function useKeptFocus<E extends HTMLElement>() {
  const list = useRef<E>(null);
  useEffect(() => {
    const near = list.current?.parentElement as HTMLElement;
    let held: Element | null = null;
    const note = ({ target }: FocusEvent) => {
      held = near.contains(target as Node) ? (target as Element) : null;
    };
    const watch = new MutationObserver(() => {
      if (!held || held.isConnected) return;
      held = null;
      if (document.activeElement === document.body) list.current?.focus({ preventScroll: true });
    });
    document.addEventListener("focusin", note);
    watch.observe(near, { childList: true, subtree: true });
    return () => {
      document.removeEventListener("focusin", note);
      watch.disconnect();
    };
  }, []);
  return list;
}
