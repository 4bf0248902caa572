import { useEffect, useState } from "react";
import type {
  Agent,
  DeviceStatus,
  DevicesIssueResult,
  SessionsListResult,
} from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised, clockTime, duration, fullTime } from "../../data/format.ts";
import { usePages, useRead } from "../../data/queries.ts";
import { useSession } from "../../data/session.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ActButton } from "../../ui/form-dialog.tsx";
import { CircleCheck, CircleX, Laptop, Plus, Smartphone, TimerOff } from "../../ui/icons.tsx";
import { Empty, Facts } from "../../ui/page.tsx";
import { type Column, column, endColumn, List, Load, wideEndColumn } from "../../ui/table.tsx";
import { useTask } from "../../ui/task.tsx";
import { Badge, Copy, Time } from "../../ui/text.tsx";
import "./agents.css";

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
    <Button label="Create device code" icon={Plus} busy={issue.busy} onClick={() => issue.run()} />
  );
  return (
    <>
      <List
        pages={list}
        actions={connect}
        label="Devices"
        columns={[
          ...COLUMNS,
          endColumn(
            "",
            ({ client_name, session_id }: Session) =>
              may("sessions.delete") && (
                <ActButton
                  label="Disconnect"
                  small
                  kind="quiet"
                  title={`Disconnect ${client_name}?`}
                  text="Its key is revoked and stops working within 5 seconds. This cannot be undone, but it can connect again."
                  action="Disconnect"
                  act={() => api.sessions.delete({ agent_id: agent.id, session_id })}
                  done={`${client_name} disconnected.`}
                />
              ),
          ),
        ]}
        empty={
          <Empty icon={Smartphone} title="No devices yet" action={connect}>
            Create a code here and enter it on the device: it gets its own key, and no key has to be copied.
            For a device that shows a code itself, choose “Enter a device code” on the page of agents. MCP
            clients with OAuth need only the address <code>{`${location.origin}/mcp`}</code>, and appear here
            once you approve them.
          </Empty>
        }
      />
      {issued && (
        <Dialog title={`Device code for ${agent.name}`} onClose={() => setIssued(undefined)}>
          <Approval agent={agent} link={issued.verification_uri_complete} />
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

interface Props {
  agent: { id: string; name: string };
  /** The link to open elsewhere, if the code was issued just now. */
  link?: string | undefined;
}

/** The live state of an agent's newest device code, with the requesting device shown before the decision. */
export function Approval({ agent, link }: Props) {
  const status = useRead(api.devices.status, { agent_id: agent.id }, "device");
  const isOpen = status.data?.state === "waiting" || status.data?.state === "verifying";
  useAtExpiry(isOpen ? status.data : undefined, status.reload);
  return (
    <Load of={status}>
      {(now) => {
        if (now.state === "waiting") return <Waiting status={now} agent={agent} link={link} />;
        if (now.state === "verifying") return <Asking status={now} agent={agent} />;
        return <Settled status={now} agent={agent} />;
      }}
    </Load>
  );
}

/** The server does not report that a code expires. */
function useAtExpiry(open: DeviceStatus | undefined, act: () => void): void {
  const left = open && Date.parse(open.expires_at) - Date.parse(open.server_now);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `open` is another whenever it was asked for
  useEffect(() => {
    if (left === undefined) return;
    const timer = setTimeout(act, Math.max(0, left) + 500);
    return () => clearTimeout(timer);
  }, [open]);
}

type Of<S extends DeviceStatus["state"]> = Extract<DeviceStatus, { state: S }>;

function Waiting(props: { status: Of<"waiting">; agent: Props["agent"]; link: string | undefined }) {
  const { status, agent, link } = props;
  return (
    <div className="stack connect-step">
      <p>
        On the device, run <code>sensorium connect</code> and enter this code. The request then appears here
        for your decision.
      </p>
      <div className="user-code">
        <code>{status.user_code}</code>
        <Copy text={status.user_code} label="Copy code" />
      </div>
      {link && (
        <p className="row nowrap small muted">
          <span className="truncate">{link}</span>
          <Copy text={link} label="Copy link" />
        </p>
      )}
      <p className="row small muted" role="status">
        <Badge label="Waiting for device" tone="info" dot />
        expires in{" "}
        {duration(Math.max(0, (Date.parse(status.expires_at) - Date.parse(status.server_now)) / 1000))}, for{" "}
        {agent.name}
      </p>
      <p className="small muted">Requested scopes: {status.scopes.join(", ")}</p>
    </div>
  );
}

function Asking({ status, agent }: { status: Of<"verifying">; agent: Props["agent"] }) {
  const { client_info, claimed_at, scopes, claim_id } = status;
  const decide = useTask((claim_id: string, action: "approve" | "reject") =>
    api.devices.confirm({ agent_id: agent.id, claim_id, action }),
  );
  return (
    <div className="stack connect-step">
      <div className="row">
        <Laptop aria-hidden size={20} />
        <h3>A device wants to act as {agent.name}</h3>
      </div>
      <p className="muted">
        Approve only a request that you have just started. The details below are not verified: compare the
        code with the one on the device.
      </p>
      <Facts
        of={{
          Client: (
            <>
              {client_info.name} {client_info.version}
            </>
          ),
          Host: client_info.host,
          "Requested at": (
            <time dateTime={claimed_at} title={fullTime(claimed_at)}>
              {clockTime(claimed_at)}
            </time>
          ),
          Code: <code>{status.user_code}</code>,
          "Requested scopes": scopes.join(", "),
        }}
      />
      {claim_id && (
        <div className="row">
          <Button
            label="Approve device"
            kind="primary"
            busy={decide.busy}
            onClick={() => decide.run(claim_id, "approve")}
          />
          <Button label="Deny" disabled={decide.busy} onClick={() => decide.run(claim_id, "reject")} />
        </div>
      )}
    </div>
  );
}

function Settled({ status, agent }: { status: DeviceStatus; agent: Props["agent"] }) {
  if (status.state === "connected") {
    return (
      <Empty icon={CircleCheck} title={`${status.client_info.name} is connected`}>
        It now acts as {agent.name}. You can disconnect it under the agent's devices.
      </Empty>
    );
  }
  const denied = status.state === "denied";
  return (
    <Empty icon={denied ? CircleX : TimerOff} title={denied ? "Denied" : "Code expired"}>
      {denied
        ? "The device received no key, and the code is no longer valid."
        : "Codes expire after 10 minutes. Create a new one to try again."}
    </Empty>
  );
}
