import { useSession } from "../../shell/session.tsx";
import { Page } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Account } from "./account.tsx";
import { Audit } from "./audit.tsx";
import { Limits } from "./limits.tsx";
import { People } from "./people.tsx";
import { Projects } from "./projects.tsx";
import { Teams } from "./teams.tsx";
import "./settings.css";

/** The organisation: who is in it, how its work is filed, what was done, and one's own account. */
export function Settings() {
  const { isAdmin, tenant } = useSession();
  const ofAdmins = [
    { key: "people", label: "People", content: <People /> },
    { key: "teams", label: "Teams", content: <Teams /> },
  ];
  const tabs = [
    ...(isAdmin ? ofAdmins : []),
    { key: "projects", label: "Projects", content: <Projects /> },
    { key: "limits", label: "Limits", content: <Limits /> },
    ...(isAdmin ? [{ key: "audit", label: "Audit log", content: <Audit /> }] : []),
    { key: "account", label: "Your account", content: <Account /> },
  ];
  return (
    <Page title="Settings" lead={tenant.name}>
      <Tabs label="Settings" tabs={tabs} />
    </Page>
  );
}
