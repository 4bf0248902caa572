import { Link } from "react-router";
import type { MemoryHealth } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { number, plural } from "../../data/format.ts";
import { useRead } from "../../data/queries.ts";
import { useSession } from "../../data/session.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Eraser } from "../../ui/icons.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Load } from "../../ui/table.tsx";
import { Tile } from "../../ui/text.tsx";
import "./memories.css";

export function Health() {
  const { may } = useSession();
  const health = useRead(api.memories.health, {});
  return (
    <Page
      title="Memory health"
      above={{ "/memories": "Memories" }}
      lead="Issues that affect search, counted over the memories that you can read."
      actions={
        may("memories.erase") && <ButtonLink label="Erase permanently" to="/memories/erase" icon={Eraser} />
      }
    >
      <Load of={health} lines={6}>
        {(counts) => (
          <>
            <div className="tiles">
              <Tile
                name="Near duplicates"
                value={number(counts.duplicate_count)}
                tone={counts.duplicate_count > 0 ? "warn" : undefined}
                note={counts.duplicate_count > 0 ? <Link to="/memories/merges">Review merges</Link> : "None"}
              />
              <Tile
                name="Stale"
                value={number(counts.stale_count)}
                tone={counts.stale_count > 0 ? "warn" : undefined}
                note="freshness date over 90 days ago"
              />
              <Tile name="Unrelated" value={number(counts.orphan_count)} note="without a relationship" />
              <Tile
                name="Without embedding"
                value={counts.embed_gap_count === null ? "–" : number(counts.embed_gap_count)}
                note={gapNote(counts.embed_gap_count)}
              />
              <Tile
                name="Reflections"
                value={number(counts.reflection_count)}
                note="derived from other memories"
              />
            </div>
            <Card title="Last read">
              <Ages counts={counts} />
            </Card>
          </>
        )}
      </Load>
    </Page>
  );
}

function gapNote(embed_gap_count: number | null): string {
  if (embed_gap_count === null) return "search is not responding";
  return embed_gap_count > 0 ? "found by words only until embedded" : "all are embedded";
}

const AGES: Record<string, string> = {
  under_7d: "Within 7 days",
  "7d_to_30d": "7 to 30 days ago",
  "30d_to_90d": "30 to 90 days ago",
  "90d_to_365d": "90 days to a year ago",
  over_365d: "More than a year ago",
};

function Ages({ counts: { decay_distribution } }: { counts: MemoryHealth }) {
  const rows = Object.entries(decay_distribution);
  const total = rows.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0)
    return (
      <p className="muted">
        No active memories that you can read. <Link to="/memories">Create a memory</Link> first.
      </p>
    );
  return (
    <dl className="ages" aria-label={plural(total, "active memory", "active memories")}>
      {rows.map(([bucket, count]) => (
        <div key={bucket}>
          <dt>{AGES[bucket] ?? bucket}</dt>
          <dd>
            <meter min={0} max={total} value={count} aria-label={AGES[bucket] ?? bucket} />
            <span className="num">{number(count)}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}
