import { Page } from "../../ui/page.tsx";

export function Agent() {
  return <Page title="Agent">…</Page>;
}
