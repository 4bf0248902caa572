import type { Output, OutputVersion } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { bytes } from "../../data/format.ts";
import { useDraft } from "../../data/use-draft.ts";
import { useLoad } from "../../data/use-load.ts";
import { Diff } from "../../ui/diff.tsx";
import { SelectField } from "../../ui/field.tsx";
import { Load } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { Who } from "../../ui/who.tsx";

/** All versions, newest first, and the changes between any two. */
export function Versions({ output }: { output: Output }) {
  const loaded = useLoad(
    (signal) => api.outputs.listVersions({ output_id: output.id }, { signal }),
    [output.id],
  );
  return (
    <Load of={loaded}>
      {({ versions }) => (
        <div className="sides by-list">
          <Chronicle versions={versions} />
          {versions.length > 1 ? (
            <Compare output={output} versions={versions} />
          ) : (
            <p className="muted">Save a second version to compare.</p>
          )}
        </div>
      )}
    </Load>
  );
}

function Chronicle({ versions }: { versions: OutputVersion[] }) {
  return (
    <ol className="framed" aria-label="Versions" reversed>
      {versions.map((version) => {
        const by = version.authored_by_agent_id ?? version.authored_by_user_id;
        return (
          <li key={version.id}>
            <p>
              <strong>Version {version.version_num}</strong>{" "}
              <span className="muted small">{bytes(version.byte_size)}</span>
            </p>
            {version.change_note && <p>{version.change_note}</p>}
            <p className="muted small">
              {by ? <Who id={by} /> : "Unknown"} · <Time at={version.created_at} />
            </p>
          </li>
        );
      })}
    </ol>
  );
}

function Compare({ output, versions }: { output: Output; versions: OutputVersion[] }) {
  const [newest, before] = versions.map(({ version_num }) => String(version_num));
  const [{ from, to }, field] = useDraft({ from: before ?? "1", to: newest ?? "1" });
  const bodies = useLoad(
    (signal) =>
      Promise.all(
        [from, to].map(
          async (version_num) =>
            (await api.outputs.getVersion({ output_id: output.id, version_num }, { signal })).body ?? "",
        ),
      ),
    [output.id, from, to],
  );
  const options = versions.map(({ version_num }) => ({
    value: String(version_num),
    label: `Version ${version_num}`,
  }));
  return (
    <div className="stack">
      <div className="row compare-choice">
        <SelectField label="From" {...field("from")} options={options} />
        <SelectField label="To" {...field("to")} options={options} />
      </div>
      <Load of={bodies} lines={6}>
        {([old = "", current = ""]) => <Diff before={old} after={current} />}
      </Load>
    </div>
  );
}
