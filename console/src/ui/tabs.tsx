import { Content, List, Root, Trigger } from "@radix-ui/react-tabs";
import { type ReactNode, useEffect, useRef } from "react";
import { useAddress } from "../data/use-address.ts";

interface Tab {
  key: string;
  label: string;
  content: ReactNode;
}

/** Tabs whose choice stands in the address (`?tab=`), so that it can be linked and gone back from. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const [search, change] = useAddress();
  const first = tabs[0]?.key ?? "";
  const asked = search.get("tab");
  const value = tabs.some(({ key }) => key === asked) ? (asked as string) : first;
  const choose = (key: string) => change({ tab: key === first ? null : key });
  const list = useRef<HTMLDivElement>(null);
  // Where there is little room the chosen one may stand beyond the edge.
  useEffect(() => {
    const all = list.current as HTMLDivElement;
    const chosen = all.querySelector<HTMLElement>(`[id$="-trigger-${value}"]`);
    const watch = new ResizeObserver(() => {
      if (chosen) all.scrollLeft = chosen.offsetLeft - all.offsetLeft - 60;
    });
    watch.observe(all);
    return () => watch.disconnect();
  }, [value]);
  return (
    <Root value={value} onValueChange={choose}>
      <List ref={list} className="tabs" aria-label={label}>
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
