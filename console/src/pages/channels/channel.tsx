import { Page } from "../../ui/page.tsx";

export function Channel() {
  return <Page title="Channel">…</Page>;
}
