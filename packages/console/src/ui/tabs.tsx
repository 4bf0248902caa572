import { Content, List, Root, Trigger } from "@radix-ui/react-tabs";
import { type ReactNode, useEffect, useRef } from "react";
import type { Action } from "../data/may.ts";
import { useAddress } from "../data/use-address.ts";
import { useSession } from "../shell/session.tsx";

export interface Tab {
  key: string;
  label: string;
  content: ReactNode;
  /** Without it there is nothing on the tab: whoever may not call it does not see the tab. */
  needs?: Action;
}

/** Tabs whose choice stands in the address (`?tab=`), so that it can be linked and gone back from. */
export function Tabs({ label, tabs: all }: { label: string; tabs: readonly Tab[] }) {
  const { may } = useSession();
  const tabs = all.filter(({ needs }) => needs === undefined || may(needs));
  const [search, change] = useAddress();
  const first = tabs[0]?.key ?? "";
  const asked = search.get("tab");
  const value = tabs.some(({ key }) => key === asked) ? (asked as string) : first;
  const chosen = useRef(value);
  // A click chooses twice, by the press and by the focus: it is one step back.
  const choose = (key: string) => {
    if (key !== chosen.current) change({ tab: key === first ? null : key });
    chosen.current = key;
  };
  const list = useRef<HTMLDivElement>(null);
  // Where there is little room the chosen one may stand beyond the edge.
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
          <Trigger key={tab.key} value={tab.key} className="tab">
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
