import { Pencil } from "lucide-react";
import { useState } from "react";
import { Link, useParams } from "react-router";
import type { Output } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { bytes } from "../../data/format.ts";
import { useFollowed } from "../../data/use-fresh.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { DetailPage } from "../../ui/detail-page.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Card, Facts } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Copy, Id, Time } from "../../ui/text.tsx";
import { Who } from "../../ui/who.tsx";
import { ScopeBadge, Tags } from "../memories/words.tsx";
import { More } from "./output-actions.tsx";
import { SaveDialog } from "./save.tsx";
import { Versions } from "./versions.tsx";
import "./outputs.css";

/** A longer text takes a browser seconds to render. */
const MAX_RENDERED = 1_000_000;

/** One output: rendered, as source, and its versions. */
export function OutputPage() {
  const { id = "" } = useParams();
  const [editing, setEditing] = useState(false);
  const loaded = useFollowed("output", (signal) => api.outputs.get({ output_id: id }, { signal }), [id]);
  return (
    <DetailPage
      of={loaded}
      kind="Output"
      above={{ "/outputs": "Outputs" }}
      titleOf={({ title }) => title}
      stateOf={({ current_version_num }) => <Badge>Version {current_version_num}</Badge>}
      actionsOf={(output) => (
        <>
          <Button icon={Pencil} onClick={() => setEditing(true)}>
            Create version
          </Button>
          <More output={output} reload={loaded.reload} />
        </>
      )}
      lines={10}
    >
      {(output) => (
        <>
          <Tabs
            label="Output"
            tabs={[
              { key: "rendered", label: "Rendered", content: <Rendered output={output} /> },
              { key: "source", label: "Source", content: <Source output={output} /> },
              {
                key: "versions",
                label: "Versions",
                content: <Versions key={output.current_version_num} output={output} />,
              },
            ]}
          />
          {editing && (
            <SaveDialog output={output} onClose={() => setEditing(false)} onSaved={loaded.reload} />
          )}
        </>
      )}
    </DetailPage>
  );
}

function Rendered({ output }: { output: Output }) {
  const text = output.body ?? "";
  return (
    <div className="sides with-facts">
      <Card>
        <Markdown title={output.title}>{text.slice(0, MAX_RENDERED)}</Markdown>
        {text.length > MAX_RENDERED && (
          <p className="notice">Only the beginning is shown. Export the output to read all of it.</p>
        )}
      </Card>
      <About output={output} />
    </div>
  );
}

function Source({ output }: { output: Output }) {
  const text = output.body ?? "";
  return (
    <Card title="Markdown" actions={<Copy text={text} label="Copy text" />} flush>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must be able to */}
      <section className="output-source" tabIndex={0} aria-label="Markdown">
        <pre>{text.slice(0, MAX_RENDERED)}</pre>
      </section>
    </Card>
  );
}

function About({ output }: { output: Output }) {
  const by = output.agent_id ?? output.user_id;
  return (
    <Card>
      <Facts
        of={{
          Scope: <ScopeBadge scope={output.scope} />,
          Author: by && <Who id={by} />,
          Project: output.project_id,
          Tags: output.tags.length > 0 && <Tags tags={output.tags} />,
          Run: output.process_run_id && <Link to={`/runs/${output.process_run_id}`}>View run</Link>,
          "Superseded by": output.superseded_by && (
            <Link to={`/outputs/${output.superseded_by}`}>View newer output</Link>
          ),
          "Derived from": linksTo(output.derived_from_ids),
          References: linksTo(output.references_ids),
          Supersedes: linksTo(output.supersedes_ids),
          Size: bytes(output.byte_size),
          Updated: <Time at={output.updated_at} />,
          Slug: <Id>{output.slug}</Id>,
          "SHA-256": <Id>{output.content_hash}</Id>,
        }}
      />
    </Card>
  );
}

const linksTo = (ids: readonly string[]) =>
  ids.length > 0 &&
  ids.map((id) => (
    <Link key={id} to={`/outputs/${id}`} className="output-link">
      …{id.slice(-8)}
    </Link>
  ));
