import { ButtonLink } from "../ui/button.tsx";
import { Compass } from "../ui/icons.tsx";
import { Empty, Page } from "../ui/page.tsx";

export function NotFound() {
  return (
    <Page title="Page not found">
      <Empty
        icon={Compass}
        title="This page does not exist"
        action={<ButtonLink label="Go to overview" to="/" />}
      >
        Check the address, or start from the overview.
      </Empty>
    </Page>
  );
}
