import { useEffect, useRef } from "react";

/**
 * For what lists something: where the focus stood near it on what is there no more, a row that was deleted or the button
 * for more of them, it goes to the list, and not to the beginning of the page.
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
