import { Content, List, Root, Trigger } from "@radix-ui/react-tabs";
import { type MouseEvent, type ReactNode, useEffect, useRef } from "react";
import type { Action } from "../data/may.ts";
import { useSession } from "../data/session.ts";
import { useAddress } from "../data/use-address.ts";

export interface Tab {
  key: string;
  label: string;
  content: ReactNode;
  /** The operation that the tab requires: others do not see the tab. */
  needs?: Action;
}

/** Tabs with the selection in the address (`?tab=`), so that it can be linked and going back works. */
export function Tabs({ label, tabs: all }: { label: string; tabs: readonly Tab[] }) {
  const { may } = useSession();
  const tabs = all.filter(({ needs }) => needs === undefined || may(needs));
  const [search, change] = useAddress();
  const first = tabs[0]?.key ?? "";
  const asked = search.get("tab");
  const value = tabs.some(({ key }) => key === asked) ? (asked as string) : first;
  const chosen = useRef(value);
  // A click selects twice, by press and by focus: only one entry in the history.
  const choose = (key: string) => {
    if (key !== chosen.current) change({ tab: key === first ? null : key });
    chosen.current = key;
  };
  // Radix focuses the pressed tab by script, which browsers mark as if by keyboard: the ring would hide the underline.
  const press = (event: MouseEvent<HTMLElement>, key: string) => {
    if (event.button !== 0 || event.ctrlKey) return;
    event.preventDefault();
    event.currentTarget.focus({ focusVisible: false } as FocusOptions);
    choose(key);
  };
  const list = useRef<HTMLDivElement>(null);
  // On a narrow screen the selected tab may be out of view.
  useEffect(() => {
    chosen.current = value;
    const row = list.current as HTMLDivElement;
    const tab = row.querySelector<HTMLElement>(`[id$="-trigger-${value}"]`);
    const watch = new ResizeObserver(() => {
      if (tab) row.scrollLeft = tab.offsetLeft - row.offsetLeft - 60;
    });
    watch.observe(row);
    return () => watch.disconnect();
  }, [value]);
  return (
    <Root value={value} onValueChange={choose}>
      <List
        ref={list}
        className="tabs"
        aria-label={label}
        onScroll={({ currentTarget: row }) => row.toggleAttribute("data-scrolled", row.scrollLeft > 0)}
      >
        {tabs.map((tab) => (
          <Trigger
            key={tab.key}
            value={tab.key}
            className="tab"
            onMouseDown={(event) => press(event, tab.key)}
          >
            {tab.label}
          </Trigger>
        ))}
      </List>
      {tabs.map((tab) => (
        <Content key={tab.key} value={tab.key} className="tab-content">
          {tab.content}
        </Content>
      ))}
    </Root>
  );
}
