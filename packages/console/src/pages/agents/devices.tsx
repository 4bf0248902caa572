import { useState } from "react";
import type { Agent, DevicesIssueResult, SessionsListResult } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised } from "../../data/text.ts";
import { usePages } from "../../data/use-list.ts";
import { useTask } from "../../data/use-task.ts";
import { useSession } from "../../shell/session.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { useConfirmed } from "../../ui/confirm.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Plus, Smartphone } from "../../ui/icons.tsx";
import { Empty } from "../../ui/page.tsx";
import { type Column, column, endColumn, List, wideEndColumn } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
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
    undefined,
    ["device", "session"],
  );
  const issue = useTask(async () => setIssued(await api.devices.issue({ agent_id: agent.id })));
  const connect = (
    <Button label="Connect a device" icon={Plus} busy={issue.busy} onClick={() => issue.run()} />
  );
  return (
    <>
      <List
        pages={list}
        actions={connect}
        label="Devices"
        keyOf={(session) => session.session_id}
        columns={[
          ...COLUMNS,
          endColumn(
            "",
            (session: Session) =>
              may("sessions.delete") && <Disconnect agent={agent} session={session} reload={list.reload} />,
          ),
        ]}
        empty={
          <Empty icon={Smartphone} title="No devices yet" action={connect}>
            Connect a device with a short code: it gets its own key, and no key has to be copied. MCP clients
            with OAuth need only the address <code>{`${location.origin}/mcp`}</code>, and appear here once you
            approve them.
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

const TONES = { active: "good", idle: "neutral", ended: "warn" } as const;

const COLUMNS: Column<Session>[] = [
  column("Device or client", ({ client_name, client_version, oauth_client_id }) => (
    <div className="health">
      <span>
        <strong>{client_name}</strong> <span className="faint">{client_version}</span>
      </span>
      {oauth_client_id && <span className="small muted">Approved client{hostOf(oauth_client_id)}</span>}
    </div>
  )),
  column("Approved by", ({ approved_by, scopes }) => (
    <div className="health">
      <span>{approved_by?.name ?? <span className="faint">Not recorded</span>}</span>
      {scopes && <span className="small muted">{scopes.join(", ")}</span>}
    </div>
  )),
  column("Status", ({ state }) => <Badge label={capitalised(state)} tone={TONES[state]} dot />),
  endColumn("Last seen", ({ last_activity_at }) => <Time at={last_activity_at} />),
  wideEndColumn("Connected", ({ connected_at }) => <Time at={connected_at} />),
];

/** A client with a metadata document is known by its host. */
function hostOf(client_id: string): string {
  return URL.canParse(client_id) ? ` of ${new URL(client_id).host}` : "";
}

function Disconnect({ agent, session, reload }: { agent: Agent; session: Session; reload(): Promise<void> }) {
  const { client_name, session_id } = session;
  const disconnect = useConfirmed(() => ({
    title: `Disconnect ${client_name}?`,
    text: "Its key is revoked and stops working within 5 seconds. This cannot be undone, but it can connect again.",
    action: "Disconnect",
    act: () => api.sessions.delete({ agent_id: agent.id, session_id }),
    done: `${client_name} disconnected.`,
    after: reload,
  }));
  return <Button label="Disconnect" small kind="quiet" onClick={() => disconnect.run()} />;
}
