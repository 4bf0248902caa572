import type { ReactNode } from "react";
import type { Loaded } from "../data/use-load.ts";
import { Page } from "./page.tsx";
import { Load } from "./table.tsx";

interface DetailPageProps<T> {
  of: Loaded<T>;
  /** The title while it loads: "Channel". */
  kind: string;
  /** The parent pages by their path: `{ "/channels": "Channels" }`. */
  above: Record<string, string>;
  titleOf(data: T): string;
  stateOf?(data: T): ReactNode;
  leadOf?(data: T): ReactNode;
  actionsOf?(data: T): ReactNode;
  /** Of the placeholder while it loads. */
  lines?: number;
  children(data: T): ReactNode;
}

/** The page of one resource: header, and the content once loaded. */
export function DetailPage<T>(props: DetailPageProps<T>) {
  const { of, kind, above, titleOf, stateOf, leadOf, actionsOf, lines, children } = props;
  const { data } = of;
  const shown = (part?: (data: T) => ReactNode) => data !== undefined && part?.(data);
  return (
    <Page
      title={data === undefined ? kind : titleOf(data)}
      above={Object.entries(above).map(([to, label]) => ({ to, label }))}
      state={shown(stateOf)}
      lead={shown(leadOf)}
      actions={shown(actionsOf)}
    >
      <Load of={of} lines={lines}>
        {children}
      </Load>
    </Page>
  );
}
