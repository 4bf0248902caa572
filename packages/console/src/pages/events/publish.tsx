import { api } from "../../data/api.ts";
import { timeOf } from "../../data/local-time.ts";
import { mistakeInJson } from "../../data/text.ts";
import { useDraft } from "../../data/use-draft.ts";
import { useFormTask } from "../../data/use-task.ts";
import { CodeArea, TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";

/** Publishes an event manually, for testing. */
export function Publish({
  onClose,
  onPublished,
}: {
  onClose(): void;
  onPublished(id: string, duplicate: boolean): void;
}) {
  const [{ type, source, subject, at, data }, field] = useDraft({
    type: "com.example.order.created",
    source: `${location.origin}/console`,
    subject: "",
    at: "",
    data: '{\n "total": 42\n}',
  });
  const problem = mistakeInJson(data);
  const publish = useFormTask(async () => {
    const event = {
      specversion: "1.0" as const,
      id: `console-${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`,
      source,
      type,
      time: new Date().toISOString(),
      ...(subject && { subject }),
      ...(at && { notbefore: timeOf(at) }),
      ...(data.trim() && { datacontenttype: "application/json", data: JSON.parse(data) }),
    };
    const result = await api.events.publish({ event });
    if ("event_id" in result) onPublished(result.event_id, result.status === "duplicate");
  });
  return (
    <FormDialog
      title="Publish event"
      submit="Publish"
      onClose={onClose}
      task={publish}
      disabled={problem !== undefined}
    >
      <TextField label="Type" required {...field("type")} hint="Reverse DNS. Interests match it." />
      <TextField label="Source" required {...field("source")} />
      <TextField label="Subject" {...field("subject")} placeholder="acme/shop#12" />
      <TextField
        label="Deliver at"
        type="datetime-local"
        {...field("at")}
        hint="Empty: at once. Until then the event waits, and can be cancelled."
      />
      <CodeArea label="Data (JSON)" rows={7} {...field("data")} error={problem} />
    </FormDialog>
  );
}
