import { useState } from "react";
import { Link, useNavigate, useParams } from "react-router";
import type { Exemplar, ExemplarReferrer } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { bytes } from "../../data/format.ts";
import { saveFile } from "../../data/save-file.ts";
import { useTitle } from "../../data/titles.ts";
import { useDraft } from "../../data/use-draft.ts";
import { useFollowed } from "../../data/use-fresh.ts";
import { useFormTask, useTask } from "../../data/use-task.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { useConfirmed } from "../../ui/confirm.tsx";
import { DetailPage } from "../../ui/detail-page.tsx";
import { TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Download, MoreHorizontal } from "../../ui/icons.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Menu } from "../../ui/menu.tsx";
import { Card, Facts } from "../../ui/page.tsx";
import { Load } from "../../ui/table.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Copy, Id, Time } from "../../ui/text.tsx";
import { toast } from "../../ui/toast.tsx";
import "../outputs/outputs.css";

/** One exemplar: its text, and what refers to it. */
export function ExemplarPage() {
  const { id = "" } = useParams();
  const loaded = useFollowed("exemplar", (signal) => api.exemplars.get({ exemplar_id: id }, { signal }), [
    id,
  ]);
  return (
    <DetailPage
      of={loaded}
      kind="Exemplar"
      above={{ "/exemplars": "Exemplars" }}
      titleOf={({ display_name }) => display_name}
      actionsOf={(data) => <Actions exemplar={data} onRenamed={loaded.set} />}
      lines={10}
    >
      {(data) => (
        <div className="sides with-facts">
          <Text exemplar={data} />
          <About exemplar={data} />
        </div>
      )}
    </DetailPage>
  );
}

function Text({ exemplar }: { exemplar: Exemplar }) {
  const text = exemplar.extracted_text ?? "";
  const source = (
    <Card title={exemplar.original_filename} actions={<Copy text={text} label="Copy text" />} flush>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must be able to */}
      <section className="output-source" tabIndex={0} aria-label="Text">
        <pre>{text}</pre>
      </section>
    </Card>
  );
  if (exemplar.media_type === "text/plain") return source;
  const rendered = (
    <Card>
      <Markdown title={exemplar.display_name}>{text}</Markdown>
    </Card>
  );
  return (
    <Tabs
      label="Exemplar"
      tabs={[
        { key: "rendered", label: "Rendered", content: rendered },
        { key: "source", label: "Source", content: source },
      ]}
    />
  );
}

function About({ exemplar }: { exemplar: Exemplar }) {
  const { id: exemplar_id } = exemplar;
  const used = useFollowed(
    ["run", "template"],
    (signal) => api.exemplars.referrers({ exemplar_id }, { signal }),
    [exemplar_id],
  );
  return (
    <div className="stack">
      <Card>
        <Facts
          of={{
            File: exemplar.original_filename,
            Size: bytes(exemplar.byte_size),
            Created: <Time at={exemplar.created_at} />,
            Updated: <Time at={exemplar.updated_at} />,
            ID: <Id>{exemplar.id}</Id>,
          }}
        />
      </Card>
      <Card title="Used by">
        <Load of={used} lines={2}>
          {({ referrers }) =>
            referrers.length === 0 ? (
              <p className="muted">No run or template refers to it. It can be deleted.</p>
            ) : (
              <ul className="plain-list">
                {referrers.map((each) => (
                  <li key={each.resource_id}>
                    <Referrer of={each} />
                  </li>
                ))}
              </ul>
            )
          }
        </Load>
      </Card>
    </div>
  );
}

function Referrer({ of: { resource_type, resource_id } }: { of: ExemplarReferrer }) {
  if (resource_type === "run") return <RunLink id={resource_id} />;
  return <Link to={`/templates/${resource_id}`}>{resource_id}</Link>;
}

function RunLink({ id }: { id: string }) {
  return <Link to={`/runs/${id}`}>{useTitle("run", id) ?? `Run …${id.slice(-8)}`}</Link>;
}

interface ActionsProps {
  exemplar: Exemplar;
  onRenamed(exemplar: Exemplar): void;
}

function Actions({ exemplar, onRenamed }: ActionsProps) {
  const [renaming, setRenaming] = useState(false);
  const navigate = useNavigate();
  const { id: exemplar_id, display_name, original_filename } = exemplar;
  const download = useTask(async () =>
    saveFile(await api.exemplars.download({ exemplar_id }), original_filename),
  );
  const remove = useConfirmed(() => ({
    title: `Delete “${display_name}”?`,
    text: "The text is erased. This cannot be undone.",
    action: "Delete",
    act: () => api.exemplars.delete({ exemplar_id }),
    done: "Exemplar deleted.",
    after: () => navigate("/exemplars"),
  }));
  return (
    <>
      <Button label="Download" icon={Download} busy={download.busy} onClick={() => download.run()} />
      <Menu
        trigger={<IconButton icon={MoreHorizontal} label="More actions" />}
        choices={[
          { label: "Rename…", onSelect: () => setRenaming(true) },
          { label: "Delete…", onSelect: () => remove.run(), danger: true },
        ]}
      />
      {renaming && (
        <RenameDialog exemplar={exemplar} onRenamed={onRenamed} onClose={() => setRenaming(false)} />
      )}
    </>
  );
}

function RenameDialog({ exemplar, onRenamed, onClose }: ActionsProps & { onClose(): void }) {
  const [{ name }, field] = useDraft({ name: exemplar.display_name });
  const rename = useFormTask(async () => {
    onRenamed(await api.exemplars.rename({ exemplar_id: exemplar.id, display_name: name.trim() }));
    onClose();
    toast({ title: "Renamed." });
  });
  return (
    <FormDialog title="Rename exemplar" submit="Rename" onClose={onClose} task={rename}>
      <TextField label="Name" {...field("name")} required maxLength={200} />
    </FormDialog>
  );
}
