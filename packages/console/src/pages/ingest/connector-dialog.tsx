import { useState } from "react";
import type { Connector } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { type FieldOf, useDraft } from "../../data/use-draft.ts";
import { useSaving } from "../../data/use-task.ts";
import { SelectField, TextField } from "../../ui/field.tsx";
import { FormDialog, type SavingProps } from "../../ui/form-dialog.tsx";
import { saveChanges } from "../../ui/overwrite.tsx";
import { draftOfMapping, emptyMapping, MappingFields, mappingOf, wholeMapping } from "./mapping.tsx";

/** Without a connector, a new one is added. */
type Props = SavingProps & { connector: Connector | undefined };

const KINDS = [
  { value: "amqp091", label: "RabbitMQ (AMQP 0-9-1)" },
  { value: "amqp10", label: "Azure Service Bus, Artemis, Qpid and others (AMQP 1.0)" },
];

const whole = (connector: Connector): Connector => ({
  ...connector,
  mapping: wholeMapping(connector.mapping),
});

/** Returns the saved connector; null if others changed the same fields and the person keeps theirs. */
function saveConnector(before: Connector, wanted: Partial<Connector>) {
  const which = { connector_id: before.id };
  const connectors = {
    get: async () => whole(await api.connectors.get(which)),
    update: api.connectors.update,
  };
  return saveChanges(connectors, which, whole(before), wanted, "/ingest?tab=connectors");
}

const draftOf = (connector: Connector | undefined) => ({
  name: connector?.name ?? "",
  kind: connector?.kind ?? ("amqp091" as const),
  url: "",
  from: "",
  source: connector?.source ?? "",
  prefetch: String(connector?.prefetch ?? 100),
  mapping: connector ? draftOfMapping(connector.mapping) : emptyMapping,
});

export function ConnectorDialog({ connector, onClose, onDone }: Props) {
  const [before] = useState(connector);
  const [{ name, kind, url, from, source, prefetch, mapping }, field] = useDraft(() => draftOf(connector));
  const save = useSaving({ onClose, onDone }, async () => {
    const parts = { name: name.trim(), mapping: mappingOf(mapping), prefetch: Number(prefetch) };
    if (before) {
      if (!(await saveConnector(before, parts))) return false;
    } else
      await api.connectors.create({
        ...parts,
        kind,
        url,
        source: source.trim(),
        ...(kind === "amqp091" ? { queue: from } : { address: from }),
      });
    return before ? "Saved. Applies to new messages." : `Connecting ${name}.`;
  });
  return (
    <FormDialog
      wide
      title={connector ? connector.name : "New connector"}
      submit={connector ? "Save" : "Add connector"}
      onClose={onClose}
      task={save}
    >
      <TextField label="Name" {...field("name")} required maxLength={200} />
      {!connector && <BrokerFields kind={kind} field={field} />}
      <TextField
        label="Prefetch"
        type="number"
        min={1}
        max={1000}
        {...field("prefetch")}
        hint="Maximum number of unstored messages per node."
      />
      <MappingFields source={source} {...field("mapping")} idDefault="Default: the broker's message ID." />
    </FormDialog>
  );
}

type Draft = ReturnType<typeof draftOf>;

function BrokerFields({ kind, field }: Pick<Draft, "kind"> & { field: FieldOf<Draft> }) {
  return (
    <>
      <SelectField label="Broker" {...field("kind")} options={KINDS} />
      <TextField
        label="Address"
        {...field("url")}
        required
        pattern="amqps?://.+"
        placeholder="amqps://user:password@rabbit.example.com/"
        hint="Including credentials, which are never shown again."
      />
      <div className="grid-2">
        <TextField
          label={kind === "amqp091" ? "Queue" : "Source address"}
          {...field("from")}
          required
          placeholder={kind === "amqp091" ? "orders" : "/amq/queue/orders"}
          hint="Must exist."
        />
        <TextField
          label="Source"
          {...field("source")}
          required
          placeholder="shop"
          hint="The second part of the event type."
        />
      </div>
    </>
  );
}
