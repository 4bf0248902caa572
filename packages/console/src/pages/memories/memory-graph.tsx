import { useMemo, useState } from "react";
import type { Memory, RelationshipsGraphResult } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised, plural } from "../../data/format.ts";
import { useIsOwn } from "../../data/names.ts";
import { useRead } from "../../data/queries.ts";
import { Canvas } from "../../graph/canvas.tsx";
import { Button, ButtonLink, IconButton } from "../../ui/button.tsx";
import { Segments } from "../../ui/field.tsx";
import { useAct } from "../../ui/form-dialog.tsx";
import { ArrowLeft, ArrowRight, Crosshair, Trash2, Waypoints } from "../../ui/icons.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Card, Empty } from "../../ui/page.tsx";
import { Load } from "../../ui/table.tsx";
import type { Task } from "../../ui/task.tsx";
import { distinctLabels } from "./labels.ts";
import { relationWords, ScopeBadge } from "./words.tsx";

const SIZE = { width: 208, height: 76 };
const DEPTHS = [
  { value: "1", label: "1 hop" },
  { value: "2", label: "2 hops" },
  { value: "3", label: "3 hops" },
] as const;

/** The relationships of a memory, as a graph to explore from memory to memory. */
export function MemoryGraph({ start }: { start: Pick<Memory, "id" | "title"> }) {
  const [trail, setTrail] = useState([start]);
  const [depth, setDepth] = useState<"1" | "2" | "3">("2");
  const centre = trail.at(-1) ?? start;
  const graph = useRead(
    api.relationships.graph,
    { id: centre.id, depth: Number(depth), include_superseded: true },
    ["relationship", "memory"],
  );
  return (
    <div className="stack">
      <div className="row">
        <nav className="trail grow" aria-label="Path through the graph">
          {trail.map((memory, at) => (
            <button
              // biome-ignore lint/suspicious/noArrayIndexKey: one can walk through a memory twice
              key={`${at} ${memory.id}`}
              type="button"
              className="trail-step"
              title={memory.title}
              aria-current={at === trail.length - 1 || undefined}
              onClick={() => setTrail(trail.slice(0, at + 1))}
            >
              {memory.title}
            </button>
          ))}
        </nav>
        <Segments label="Depth" value={depth} onChange={(value) => setDepth(value)} options={DEPTHS} />
      </div>
      <Load of={graph} lines={8}>
        {(data) =>
          data.nodes.length > 1 ? (
            <Walk graph={data} centre={centre.id} go={(memory) => setTrail([...trail, memory])} />
          ) : (
            <Empty icon={Waypoints} title="No relationships yet">
              Add one with “Add relationship” in the menu above, or with{" "}
              <code>POST /v1/memories/{"{id}"}/relationships</code>.
            </Empty>
          )
        }
      </Load>
    </div>
  );
}

function Walk({ graph, centre, go }: { graph: Graph; centre: string; go(memory: Memory): void }) {
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
        folds
        {...picture}
      />
      {graph.truncated && (
        <p className="muted small">
          The graph is truncated: centre it on another memory, or reduce the depth.
        </p>
      )}
      {memory && (
        <Card
          title={memory.title}
          actions={
            <>
              {memory.id !== centre && (
                <Button label="Centre here" small icon={Crosshair} onClick={() => go(memory)} />
              )}
              <ButtonLink label="Open" small to={`/memories/${memory.id}`} />
            </>
          }
        >
          <div className="stack tight">
            <Markdown>{memory.content}</Markdown>
            <p className="row muted small">
              <ScopeBadge scope={memory.scope} /> {capitalised(memory.type)}
            </p>
          </div>
          <Ties graph={graph} memory={memory} choose={setChosen} />
        </Card>
      )}
    </>
  );
}

type Graph = RelationshipsGraphResult;
type Edge = Graph["edges"][number];

/** Relationships that the service recorded, in capitals, cannot be deleted. */
const isOfService = ({ relationship_type }: Edge) => relationship_type === relationship_type.toUpperCase();

/** The relationships of a memory to others in the picture; the person's own can be deleted. */
function Ties({ graph, memory, choose }: { graph: Graph; memory: Memory; choose(id: string): void }) {
  const titles = useMemo(() => distinctLabels(graph.nodes, Number.POSITIVE_INFINITY), [graph]);
  const titleOf = (id: string) => titles.get(id) ?? id;
  const remove = useAct((edge: Edge) => ({
    title: "Delete this relationship?",
    text: `The relationship “${titleOf(edge.source_memory_id)}” ${relationWords(edge)} “${titleOf(edge.target_memory_id)}” is deleted. Both memories are kept. You can add it again.`,
    action: "Delete relationship",
    act: () => api.relationships.delete({ id: memory.id, rel_id: edge.id }),
    done: "Relationship deleted.",
  }));
  const ties = graph.edges.filter(
    ({ source_memory_id, target_memory_id }) =>
      source_memory_id === memory.id || target_memory_id === memory.id,
  );
  return (
    <>
      <h3 className="ties-title">{plural(ties.length, "relationship")}</h3>
      <ul className="ties">
        {ties.map((edge) => {
          const away = edge.source_memory_id === memory.id;
          const other = away ? edge.target_memory_id : edge.source_memory_id;
          const Arrow = away ? ArrowRight : ArrowLeft;
          return (
            <li key={edge.id}>
              <Arrow size={14} aria-label={away ? "to" : "from"} className="faint" />
              <span className="muted small nowrap-text">{relationWords(edge)}</span>
              <button
                type="button"
                className="link truncate grow"
                title={titleOf(other)}
                onClick={() => choose(other)}
              >
                {titleOf(other)}
              </button>
              <RemoveTie
                edge={edge}
                source={graph.nodes.find(({ id }) => id === edge.source_memory_id)}
                label={`Delete: ${relationWords(edge)} ${titleOf(other)}`}
                remove={remove}
              />
            </li>
          );
        })}
      </ul>
    </>
  );
}

interface RemoveProps {
  edge: Edge;
  source: Memory | undefined;
  label: string;
  remove: Task<[Edge]>;
}

function RemoveTie({ edge, source, label, remove }: RemoveProps) {
  const isOwn = useIsOwn(source);
  if (isOfService(edge) || !((source && isOwn) || madeHere.has(edge.id))) return null;
  return <IconButton icon={Trash2} label={label} disabled={remove.busy} onClick={() => remove.run(edge)} />;
}

function pictureOf({ nodes, edges }: Graph, centre: string) {
  const labels = distinctLabels(nodes);
  return {
    nodes: nodes.map((memory) => ({
      id: memory.id,
      label: `${memory.title}, ${memory.type}`,
      content: (
        <div
          className={`memory-box ${memory.status}${memory.id === centre ? " centre" : ""}`}
          title={memory.title}
        >
          <span className="memory-title">{labels.get(memory.id)}</span>
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
      label: relationWords(edge),
    })),
  };
}

/** Relationships that the person created since opening the console: the API does not return their creator. */
export const madeHere = new Set<string>();
