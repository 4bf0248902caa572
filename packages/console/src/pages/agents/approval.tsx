import { useEffect } from "react";
import type { DeviceStatus } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { clockTime, duration, fullTime } from "../../data/format.ts";
import { useOnChange } from "../../data/live.ts";
import { useReload } from "../../data/use-fresh.ts";
import { useLoad } from "../../data/use-load.ts";
import { useTask } from "../../data/use-task.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { CircleCheck, CircleX, Laptop, TimerOff } from "../../ui/icons.tsx";
import { Empty, Facts } from "../../ui/page.tsx";
import { Load } from "../../ui/table.tsx";
import { Copy } from "../../ui/text.tsx";
import "./agents.css";

interface Props {
  agent: { id: string; name: string };
  /** The link to open elsewhere, if the code was issued just now. */
  link?: string | undefined;
  onSettled?(): void;
}

/** The live state of an agent's newest device code, with the requesting device shown before the decision. */
export function Approval({ agent, link, onSettled }: Props) {
  const status = useLoad((signal) => api.devices.status({ agent_id: agent.id }, { signal }), [agent.id]);
  const isOpen = status.data?.state === "waiting" || status.data?.state === "verifying";
  const look = useReload(status.reload);
  useOnChange("device", null, isOpen, look);
  useAtExpiry(isOpen ? status.data : undefined, look);
  const decide = useTask(async (claim_id: string, action: "approve" | "reject") => {
    await api.devices.confirm({ agent_id: agent.id, claim_id, action });
    await status.reload();
    onSettled?.();
  });
  return (
    <Load of={status}>
      {(now) => {
        if (now.state === "waiting") return <Waiting status={now} agent={agent} link={link} />;
        if (now.state === "verifying")
          return <Asking status={now} agent={agent} busy={decide.busy} decide={decide.run} />;
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

function Waiting({
  status,
  agent,
  link,
}: {
  status: Of<"waiting">;
  agent: Props["agent"];
  link: string | undefined;
}) {
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

interface AskingProps {
  status: Of<"verifying">;
  agent: Props["agent"];
  busy: boolean;
  decide(claim_id: string, action: "approve" | "reject"): unknown;
}

function Asking({ status, agent, busy, decide }: AskingProps) {
  const { client_info, claimed_at, scopes, claim_id } = status;
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
            busy={busy}
            onClick={() => decide(claim_id, "approve")}
          />
          <Button label="Deny" disabled={busy} onClick={() => decide(claim_id, "reject")} />
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
