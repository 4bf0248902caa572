import { Content, List, Root, Trigger } from "@radix-ui/react-tabs";
import { type ReactNode, useEffect, useRef } from "react";
import { useSearchParams } from "react-router";

interface Tab {
  key: string;
  label: string;
  content: ReactNode;
}

/** Tabs whose choice stands in the address (`?tab=`), so that it can be linked and gone back from. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const [search, setSearch] = useSearchParams();
  const first = tabs[0]?.key ?? "";
  const asked = search.get("tab");
  const value = tabs.some(({ key }) => key === asked) ? (asked as string) : first;
  const choose = (key: string) =>
    setSearch((old) => {
      const next = new URLSearchParams(old);
      if (key === first) next.delete("tab");
      else next.set("tab", key);
      return next;
    });
  const list = useRef<HTMLDivElement>(null);
  // Where there is little room the chosen one may stand beyond the edge.
  useEffect(() => {
    const chosen = list.current?.querySelector<HTMLElement>(`[id$="-trigger-${value}"]`);
    if (chosen && list.current) list.current.scrollLeft = chosen.offsetLeft - list.current.offsetLeft - 60;
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
