import { useLocation } from "react-router";
import { Link2Off } from "../../ui/icons.tsx";
import { Empty, Page } from "../../ui/page.tsx";
import { Consent } from "./consent.tsx";

/** The authorization endpoint: the page that a client sends its user to. */
export function Authorize() {
  const query = useLocation().search.slice(1);
  if (query) return <Consent query={query} />;
  return (
    <Page title="Connect a client">
      <Empty icon={Link2Off} title="Nothing to approve">
        A program opens this page when it asks to act as one of your agents. Start again in the program.
      </Empty>
    </Page>
  );
}
