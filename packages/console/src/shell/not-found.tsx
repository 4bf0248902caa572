import { Compass } from "lucide-react";
import { ButtonLink } from "../ui/button.tsx";
import { Empty, Page } from "../ui/page.tsx";

export function NotFound() {
  return (
    <Page title="Not here">
      <Empty
        icon={Compass}
        title="There is no such page"
        action={<ButtonLink to="/">Go to the overview</ButtonLink>}
      >
        The address may be mistyped, or from another version.
      </Empty>
    </Page>
  );
}
