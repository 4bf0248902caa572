import { Plus, Smartphone } from "lucide-react";
import { useState } from "react";
import type { Agent, DevicesIssueResult, SessionsListResult } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useOnChange } from "../../data/live.ts";
import { useReload } from "../../data/use-fresh.ts";
import { usePages } from "../../data/use-list.ts";
import { useTask } from "../../data/use-task.ts";
import { useSession } from "../../shell/session.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { confirm } from "../../ui/confirm.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Empty } from "../../ui/page.tsx";
import { List } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { toast } from "../../ui/toast.tsx";
import { Approval } from "./approval.tsx";

const PAGE = 50;

type Session = SessionsListResult["sessions"][number];

/** The devices that act as an agent, and how to connect another. */
export function Devices({ agent }: { agent: Agent }) {
  const { may } = useSession();
  const [issued, setIssued] = useState<DevicesIssueResult>();
  const list = usePages(
    async (cursor, signal) => {
      const offset = Number(cursor ?? 0);
      const which = { agent_id: agent.id, offset, limit: PAGE };
      const { sessions } = await api.sessions.list(which, { signal });
      // The API returns no total: a full page may have others after it.
      return { items: sessions, next: sessions.length === PAGE ? String(offset + PAGE) : null };
    },
    [agent.id],
  );
  useOnChange("device", null, true, useReload(list));
  const issue = useTask(async () => setIssued(await api.devices.issue({ agent_id: agent.id })));
  const disconnect = useTask(async (session: Session) => {
    const sure = await confirm({
      title: `Disconnect ${session.client_name}?`,
      text: "Its key is revoked: within 5 seconds it can do nothing as this agent any more.",
      action: "Disconnect",
    });
    if (!sure) return;
    await api.sessions.delete({ agent_id: agent.id, session_id: session.session_id });
    toast({ title: `${session.client_name} is disconnected.` });
    await list.reload();
  });
  const connect = (
    <Button icon={Plus} busy={issue.busy} onClick={() => issue.run()}>
      Connect a device
    </Button>
  );
  return (
    <>
      <List
        pages={list}
        actions={connect}
        label="Devices"
        keyOf={(session) => session.session_id}
        columns={[
          {
            name: "Device",
            cell: (session) => (
              <>
                <strong>{session.client_name}</strong> <span className="faint">{session.client_version}</span>
              </>
            ),
          },
          {
            name: "State",
            cell: (session) => (
              <Badge tone={session.state === "active" ? "good" : "neutral"} dot>
                {session.state}
              </Badge>
            ),
          },
          { name: "Last seen", end: true, cell: (session) => <Time at={session.last_activity_at} /> },
          {
            name: "Connected",
            end: true,
            wideOnly: true,
            cell: (session) => <Time at={session.connected_at} />,
          },
          {
            name: "",
            end: true,
            cell: (session) =>
              may("sessions.delete") && (
                <Button small kind="quiet" onClick={() => disconnect.run(session)}>
                  Disconnect
                </Button>
              ),
          },
        ]}
        empty={
          <Empty icon={Smartphone} title="No devices" action={connect}>
            A program on someone's machine gets its own key through a short code, and no key has to be copied.
          </Empty>
        }
      />
      {issued && (
        <Dialog
          title={`Connect a device to ${agent.name}`}
          onClose={() => {
            setIssued(undefined);
            list.reload();
          }}
        >
          <Approval agent={agent} link={issued.verification_uri_complete} onSettled={list.reload} />
        </Dialog>
      )}
    </>
  );
}
