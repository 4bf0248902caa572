import { useState } from "react";
import { escapeControls } from "../../../../client/support.ts";
import { api } from "../../data/api.ts";
import { withoutSequences } from "../../data/format.ts";
import { useRead } from "../../data/queries.ts";
import { Code, Time } from "../../ui/text.tsx";

interface Props {
  agent_id: string;
  delivery_id: string;
}

/** The log of an agent about a delivery, as text whatever is in it; nothing, or `none`, without a log. */
export function DeliveryLog({ agent_id, delivery_id, none }: Props & { none?: string }) {
  const { data, error } = useRead(api.deliveries.log, { agent_id, delivery_id });
  if (typeof data?.log !== "string")
    return none && (data || error) ? <p className="faint small">{none}</p> : null;
  return (
    <div>
      <p className="muted small">
        {none ? "Written" : "Log, written"} {data.logged_at && <Time at={data.logged_at} />}
      </p>
      <Code text={escapeControls(withoutSequences(data.log))} label="log" />
    </div>
  );
}

/** The same where many deliveries are shown: it is loaded when it is opened. */
export function FoldedLog(delivery: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="muted small">Log</summary>
      {isOpen && <DeliveryLog {...delivery} none="No log." />}
    </details>
  );
}
