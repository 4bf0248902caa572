import { Page } from "../../ui/page.tsx";

export function Event() {
  return <Page title="Event">…</Page>;
}
