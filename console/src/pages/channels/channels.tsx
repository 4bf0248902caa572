import { Page } from "../../ui/page.tsx";

export function Channels() {
  return <Page title="Channels">…</Page>;
}
