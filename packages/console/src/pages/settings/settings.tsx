import { useSession } from "../../shell/session.tsx";
import { Page } from "../../ui/page.tsx";
import { type Tab, Tabs } from "../../ui/tabs.tsx";
import { Audit } from "../audit/audit.tsx";
import { Account } from "./account.tsx";
import { Limits } from "./limits.tsx";
import { People } from "./people.tsx";
import { Projects } from "./projects.tsx";
import { Teams } from "./teams.tsx";
import "./settings.css";

const PARTS: Tab[] = [
  { key: "people", label: "People", needs: "users.list", content: <People /> },
  { key: "teams", label: "Teams", needs: "teams.list", content: <Teams /> },
  { key: "projects", label: "Projects", content: <Projects /> },
  { key: "limits", label: "Limits", content: <Limits /> },
  { key: "audit", label: "Audit log", needs: "audit.list", content: <Audit /> },
  { key: "account", label: "Your account", content: <Account /> },
];

/** The organisation: people, projects, audit log, and the person's account. */
export function Settings() {
  const { tenant } = useSession();
  return (
    <Page title="Settings" lead={tenant.name}>
      <Tabs label="Settings" tabs={PARTS} />
    </Page>
  );
}
