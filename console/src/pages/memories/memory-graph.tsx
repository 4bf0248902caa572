import { Crosshair, Waypoints } from "lucide-react";
import { useMemo, useState } from "react";
import type { Memory, RelationshipsGraphResult } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { plural } from "../../data/format.ts";
import { useLoad } from "../../data/use-load.ts";
import { Canvas } from "../../graph/canvas.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Segments } from "../../ui/field.tsx";
import { Card, Empty } from "../../ui/page.tsx";
import { Load } from "../../ui/table.tsx";
import { ScopeBadge } from "./words.tsx";

const SIZE = { width: 200, height: 58 };
const DEPTHS = [
  { value: "1", label: "1 hop" },
  { value: "2", label: "2 hops" },
  { value: "3", label: "3 hops" },
] as const;

/** What a memory is related to, as a graph in which one can walk from memory to memory. */
export function MemoryGraph({ start }: { start: Pick<Memory, "id" | "title"> }) {
  const [trail, setTrail] = useState([start]);
  const [depth, setDepth] = useState<"1" | "2" | "3">("2");
  const centre = trail.at(-1) ?? start;
  const graph = useLoad(
    (signal) =>
      api.relationships.graph({ id: centre.id, depth: Number(depth), include_superseded: true }, { signal }),
    [centre.id, depth],
  );
  return (
    <div className="stack">
      <div className="row">
        <nav className="trail grow" aria-label="Way through the graph">
          {trail.map((memory, at) => (
            <button
              // biome-ignore lint/suspicious/noArrayIndexKey: one can walk through a memory twice
              key={`${at} ${memory.id}`}
              type="button"
              className="trail-step"
              aria-current={at === trail.length - 1 || undefined}
              onClick={() => setTrail(trail.slice(0, at + 1))}
            >
              {memory.title}
            </button>
          ))}
        </nav>
        <Segments label="How far" value={depth} onChange={(value) => setDepth(value)} options={DEPTHS} />
      </div>
      <Load of={graph} lines={8}>
        {(data) =>
          data.nodes.length > 1 ? (
            <Walk graph={data} centre={centre.id} go={(memory) => setTrail([...trail, memory])} />
          ) : (
            <Alone />
          )
        }
      </Load>
    </div>
  );
}

function Alone() {
  return (
    <Empty icon={Waypoints} title="It is related to nothing yet">
      “Relate to another” in the menu above, or <code>POST /v1/memories/{"{id}"}/relationships</code>, ties it
      to what supports it, contradicts it or follows from it.
    </Empty>
  );
}

function Walk({
  graph,
  centre,
  go,
}: {
  graph: RelationshipsGraphResult;
  centre: string;
  go(memory: Memory): void;
}) {
  const [chosen, setChosen] = useState(centre);
  const picture = useMemo(() => pictureOf(graph, centre), [graph, centre]);
  const memory = graph.nodes.find(({ id }) => id === chosen) ?? graph.nodes[0];
  return (
    <>
      <Canvas
        label="Relationships"
        size={SIZE}
        selected={memory?.id ?? null}
        onSelect={setChosen}
        height={460}
        {...picture}
      />
      {graph.truncated && (
        <p className="muted small">There is more than fits: walk on to see it, or look fewer hops far.</p>
      )}
      {memory && (
        <Card
          title={memory.title}
          actions={
            <>
              {memory.id !== centre && (
                <Button small icon={Crosshair} onClick={() => go(memory)}>
                  Walk here
                </Button>
              )}
              <ButtonLink small to={`/memories/${memory.id}`}>
                Open
              </ButtonLink>
            </>
          }
        >
          <p className="walk-text">{memory.content}</p>
          <p className="row muted small">
            <ScopeBadge scope={memory.scope} /> {memory.type} ·{" "}
            {plural(graph.edges.filter((edge) => touches(edge, memory.id)).length, "relationship")} here
          </p>
        </Card>
      )}
    </>
  );
}

const touches = (edge: RelationshipsGraphResult["edges"][number], id: string) =>
  edge.source_memory_id === id || edge.target_memory_id === id;

function pictureOf({ nodes, edges }: RelationshipsGraphResult, centre: string) {
  return {
    nodes: nodes.map((memory) => ({
      id: memory.id,
      label: `${memory.title}, ${memory.type}`,
      content: (
        <div className={`memory-box ${memory.status}${memory.id === centre ? " centre" : ""}`}>
          <span className="step-title">{memory.title}</span>
          <span className="step-line">
            {memory.status === "active" ? memory.type : memory.status} · {memory.scope}
          </span>
        </div>
      ),
    })),
    edges: edges.map((edge) => ({
      id: edge.id,
      from: edge.source_memory_id,
      to: edge.target_memory_id,
      label: edge.relationship_type.toLowerCase().replaceAll("_", " "),
    })),
  };
}
