import { useState } from "react";
import type { Connector } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useFormTask } from "../../data/use-task.ts";
import { SelectField, TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { changesToSave } from "../../ui/overwrite.tsx";
import { toast } from "../../ui/toast.tsx";
import { draftOfMapping, emptyMapping, MappingFields, mappingOf, wholeMapping } from "./mapping.tsx";

interface Props {
  /** The connector to edit; null for a new one. */
  connector: Connector | null;
  onClose(): void;
  onSaved(): Promise<void>;
}

const KINDS = [
  { value: "amqp091", label: "RabbitMQ (AMQP 0-9-1)" },
  { value: "amqp10", label: "Azure Service Bus, Artemis, Qpid … (AMQP 1.0)" },
];

const whole = (connector: Connector): Connector => ({
  ...connector,
  mapping: wholeMapping(connector.mapping),
});

/** Returns whether it was saved: the person may keep others' changes instead. */
async function saveConnector(before: Connector, wanted: Partial<Connector>): Promise<boolean> {
  const which = { connector_id: before.id };
  const read = async () => whole(await api.connectors.get(which));
  const changes = await changesToSave({
    ...{ before: whole(before), wanted, read },
    look: "/ingest?tab=connectors",
  });
  if (changes) await api.connectors.update({ ...changes, ...which });
  return changes !== null;
}

export function ConnectorDialog({ connector, onClose, onSaved }: Props) {
  const [before] = useState(connector);
  const [name, setName] = useState(connector?.name ?? "");
  const [kind, setKind] = useState(connector?.kind ?? "amqp091");
  const [url, setUrl] = useState("");
  const [from, setFrom] = useState("");
  const [source, setSource] = useState(connector?.source ?? "");
  const [prefetch, setPrefetch] = useState(String(connector?.prefetch ?? 100));
  const [mapping, setMapping] = useState(connector ? draftOfMapping(connector.mapping) : emptyMapping);
  const save = useFormTask(async () => {
    const parts = { name: name.trim(), mapping: mappingOf(mapping), prefetch: Number(prefetch) };
    if (before) {
      if (!(await saveConnector(before, parts))) return;
    } else
      await api.connectors.create({
        ...parts,
        kind,
        url,
        source: source.trim(),
        ...(kind === "amqp091" ? { queue: from } : { address: from }),
      });
    toast({ title: before ? "Saved. It holds for what comes from now on." : `${name} is connecting.` });
    onClose();
    await onSaved();
  });
  return (
    <FormDialog
      wide
      title={connector ? connector.name : "Add a connector"}
      submit={connector ? "Save" : "Add the connector"}
      onClose={onClose}
      task={save}
    >
      <TextField label="Name" value={name} onChange={setName} required maxLength={200} />
      {!connector && (
        <>
          <SelectField
            label="Broker"
            value={kind}
            options={KINDS}
            onChange={(value) => setKind(value as typeof kind)}
          />
          <TextField
            label="Address"
            value={url}
            onChange={setUrl}
            required
            pattern="amqps?://.+"
            placeholder="amqps://user:password@rabbit.example.com/"
            hint="With its credentials, which are never shown again."
          />
          <div className="grid-2">
            <TextField
              label={kind === "amqp091" ? "Queue" : "Source address"}
              value={from}
              onChange={setFrom}
              required
              placeholder={kind === "amqp091" ? "orders" : "/amq/queue/orders"}
              hint="It must be there already."
            />
            <TextField
              label="Source"
              value={source}
              onChange={setSource}
              required
              placeholder="shop"
              hint="The second part of the type."
            />
          </div>
        </>
      )}
      <TextField
        label="Prefetch"
        type="number"
        min={1}
        max={1000}
        value={prefetch}
        onChange={setPrefetch}
        hint="How many messages each node may hold that are not stored yet."
      />
      <MappingFields
        source={source}
        mapping={mapping}
        onChange={setMapping}
        idDefault="Default: the broker's message id."
      />
    </FormDialog>
  );
}
