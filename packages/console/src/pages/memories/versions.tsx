import { type CSSProperties, useRef, useState } from "react";
import { Link } from "react-router";
import type { Memory, MemoryVersion } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { duration, fullTime } from "../../data/format.ts";
import { useRead } from "../../data/queries.ts";
import { useWidth } from "../../graph/canvas.tsx";
import { Card } from "../../ui/page.tsx";
import { plain } from "../../ui/plain.ts";
import { Load } from "../../ui/table.tsx";
import { Badge, Time, useNow, Who } from "../../ui/text.tsx";
import { TICK_WIDTH, Ticks } from "../runs/time-axis.tsx";
import "./versions.css";

/** The end of the axis lies so much of its length after the last time, and at least so long (ms): what holds goes on. */
const BEYOND = { share: 0.06, least: 3_600_000 };
/** Steps of the slider. */
const STEPS = 400;

/** A memory's texts over time, with the versions before and after it. */
export function Versions({ memory }: { memory: Memory }) {
  const loaded = useRead(api.memories.history, { id: memory.id }, "memory");
  return <Load of={loaded}>{({ versions }) => <Staircase id={memory.id} versions={versions} />}</Load>;
}

/** An axis in milliseconds. */
interface Axis {
  from: number;
  to: number;
  now: number;
}

type Interval = MemoryVersion["valid"];

function Staircase({ id, versions: newestFirst }: { id: string; versions: readonly MemoryVersion[] }) {
  const now = useNow();
  const [chosen, choose] = useState<number>();
  const lane = useRef<HTMLDivElement>(null);
  const width = useWidth(lane);
  const versions = newestFirst
    .toReversed()
    .sort((a, b) => Date.parse(a.valid.from) - Date.parse(b.valid.from));
  const axis = axisOf(versions, now);
  const at = chosen ?? now;
  const held = versions.filter(({ valid, status }) => holds(valid, at) && status !== "forgotten");
  const said = held.map(({ content }) => plain(content)).join(" · ") || "Nothing held then.";
  const when = chosen === undefined ? "Now" : DATE.format(at);
  return (
    <Card title="What held when">
      <div className="versions" style={{ "--at": left(axis, at) } as CSSProperties}>
        <p className="versions-held">
          <span className="muted small">{when}</span>
          <strong>{said}</strong>
        </p>
        <ol className="versions-rows" aria-label="Versions, oldest first">
          {versions.map((version) => (
            <Version
              key={version.id}
              version={version}
              axis={axis}
              own={version.id === id}
              held={held.includes(version)}
              replaces={versions.some(({ superseded_by }) => superseded_by === version.id)}
            />
          ))}
        </ol>
        <div className="versions-axis" ref={lane}>
          <input
            type="range"
            aria-label="What held at"
            aria-valuetext={`${when}: ${said}`}
            min={axis.from}
            max={axis.to}
            step={Math.max(1, Math.round((axis.to - axis.from) / STEPS))}
            value={at}
            onChange={({ target }) => choose(target.valueAsNumber)}
          />
          <Ticks from={axis.from} to={axis.to} most={width / TICK_WIDTH} />
        </div>
      </div>
    </Card>
  );
}

interface VersionProps {
  version: MemoryVersion;
  axis: Axis;
  /** Whether it is the page's memory. */
  own: boolean;
  held: boolean;
  replaces: boolean;
}

function Version({ version, axis, own, held, replaces }: VersionProps) {
  const { id, content, status, valid, recorded_at, corrections, superseded_by } = version;
  const words = plain(content);
  return (
    <li className={held ? "version held" : "version"}>
      <div className="version-words">
        <p className="version-times small">
          {datesOf(valid)} {status === "forgotten" && <Badge label="Forgotten" tone="bad" />}
        </p>
        <p className="version-text">
          {own ? words : <Link to={`/memories/${id}?tab=history`}>{words}</Link>}
        </p>
        <p className="muted small">
          Recorded by <Author of={version} />, <Time at={recorded_at} />
          {version.reason && <>: “{version.reason}”</>}
        </p>
        {corrections.map((each) => (
          <p key={each.at} className="muted small">
            Corrected by <Author of={each} />, <Time at={each.at} />
            {each.reason && <>: “{each.reason}”</>}. Before: {datesOf(each.valid)}
          </p>
        ))}
      </div>
      <div className="version-lane" aria-hidden>
        {replaces && <i className="version-step from" style={{ left: left(axis, Date.parse(valid.from)) }} />}
        {superseded_by !== null && valid.until && (
          <i className="version-step to" style={{ left: left(axis, Date.parse(valid.until)) }} />
        )}
        {corrections.map((each) => (
          <Bar key={each.at} of={each.valid} axis={axis} kind="corrected" />
        ))}
        <Bar of={valid} axis={axis} kind={valid.until === null ? "open" : ""} />
      </div>
    </li>
  );
}

function Author({ of: { agent_id, user_id } }: { of: Pick<MemoryVersion, "agent_id" | "user_id"> }) {
  return <Who id={agent_id ?? user_id ?? ""} />;
}

function Bar({ of: { from, until }, axis, kind }: { of: Interval; axis: Axis; kind: string }) {
  const [start, end] = [Date.parse(from), until === null ? axis.to : Date.parse(until)];
  const long = (until === null ? Math.max(axis.now, start) : end) - start;
  return (
    <span
      className={`version-bar ${kind}`}
      style={{ left: left(axis, start), width: `${((end - start) / (axis.to - axis.from)) * 100}%` }}
      title={`${fullTime(from)} – ${until === null ? "now" : fullTime(until)}`}
    >
      {kind !== "corrected" && <span>{duration(long / 1000)}</span>}
    </span>
  );
}

/** Returns an axis from the first time to after the last. */
function axisOf(versions: readonly MemoryVersion[], now: number): Axis {
  const intervals = versions.flatMap(({ valid, corrections }) => [
    valid,
    ...corrections.map((each) => each.valid),
  ]);
  const times = intervals
    .flatMap(({ from, until }) => (until === null ? from : [from, until]))
    .map(Date.parse);
  const from = Math.min(...times);
  const last = Math.max(now, ...times);
  return { from, to: last + Math.max((last - from) * BEYOND.share, BEYOND.least), now };
}

const left = ({ from, to }: Axis, at: number) => `${((at - from) / (to - from)) * 100}%`;

function holds({ from, until }: Interval, at: number): boolean {
  return Date.parse(from) <= at && (until === null || at < Date.parse(until));
}

const DATE = new Intl.DateTimeFormat("en", { dateStyle: "medium" });

function datesOf({ from, until }: Interval): string {
  const since = DATE.format(Date.parse(from));
  return until === null ? `Since ${since}` : `${since} – ${DATE.format(Date.parse(until))}`;
}
