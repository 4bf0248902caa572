import { Page } from "../../ui/page.tsx";

export function Connect() {
  return <Page title="Connect">…</Page>;
}
