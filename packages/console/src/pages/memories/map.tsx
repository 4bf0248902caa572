import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import type { Memory, Relationship } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised, filled, fullTime, number, plural } from "../../data/format.ts";
import { useNames } from "../../data/names.ts";
import { useLoad, useRead } from "../../data/queries.ts";
import { useAddress } from "../../data/use-address.ts";
import { useWidth } from "../../graph/canvas.tsx";
import { ButtonLink } from "../../ui/button.tsx";
import { optionsOf, Segments } from "../../ui/field.tsx";
import { Brain } from "../../ui/icons.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Card, Empty, Page } from "../../ui/page.tsx";
import { Load } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { TICK_WIDTH, Ticks } from "../runs/time-axis.tsx";
import { FilterFields, filtersOf } from "./found.tsx";
import { axisOf, lanesOf, neighbour } from "./map-layout.ts";
import { relationWords, ScopeBadge, StatusBadge, TYPES } from "./words.tsx";
import "./memories.css";
import "./map.css";

/** Memories on the map, and on a page of them. */
const MOST = 2000;
const PAGE = 200;

const LANES = ["subject", "type", "owner"] as const;
type LaneKind = (typeof LANES)[number];

/** All memories that a person can read, as dots: lanes by subject, type or owner, and from left to right by age. */
export function MemoryMap() {
  const [address, setAddress] = useAddress();
  const lanes = LANES.find((each) => each === address.get("lanes")) ?? "subject";
  const { type, params } = filtersOf(address);
  const wanted = JSON.stringify({ ...params, ...filled({ type }) });
  const [read, setRead] = useState(0);
  const all = useLoad((signal) => readAll(JSON.parse(wanted), signal, setRead), [wanted], "map");
  return (
    <Page
      title="Map of memories"
      above={{ "/memories": "Memories" }}
      lead="Each dot is a memory that you can read, placed where it begins to hold. Choose one to see it and what it relates to."
      actions={
        <Segments
          label="Lanes"
          value={lanes}
          options={optionsOf(LANES)}
          onChange={(value) => setAddress({ lanes: value }, { replace: true })}
        />
      }
    >
      <div className="memory-search">
        <div className="filter-line">
          <FilterFields />
        </div>
      </div>
      {all.data === undefined && read > 0 && <p role="status">{number(read)} memories read …</p>}
      <Load of={all} lines={8}>
        {({ memories, isCut }) =>
          memories.length === 0 ? (
            <Empty icon={Brain} title="No memories to show">
              Remove a filter, or create a memory first.
            </Empty>
          ) : (
            <>
              <Field memories={memories} lanes={lanes} />
              {isCut && (
                <p className="muted small">The newest {number(memories.length)}: filter to see others.</p>
              )}
            </>
          )
        }
      </Load>
    </Page>
  );
}

async function readAll(params: object, signal: AbortSignal, onRead: (count: number) => void) {
  const memories: Memory[] = [];
  for await (const memory of api.memories.list.all({ ...params, limit: PAGE }, { signal })) {
    if (memories.length === MOST) return { memories, isCut: true };
    if (memories.push(memory) % PAGE === 0) onRead(memories.length);
  }
  return { memories, isCut: false };
}

/** The dots, with the relationships of the chosen one. */
function Field({ memories, lanes: kind }: { memories: Memory[]; lanes: LaneKind }) {
  const field = useRef<HTMLDivElement>(null);
  const width = useWidth(field);
  const [chosen, choose] = useState(memories[0]?.id ?? "");
  const nameOf = useNames([...new Set(memories.map(ownerOf))]);
  const axis = useMemo(() => axisOf(memories, Date.now()), [memories]);
  const laneOf = (memory: Memory) => {
    if (kind === "type") return capitalised(memory.type);
    return kind === "owner" ? nameOf(ownerOf(memory)) : (memory.subject ?? "No subject");
  };
  const lanes = lanesOf(memories, laneOf, axis, width);
  const dots = new Map(lanes.flatMap((lane) => lane.dots.map((dot) => [dot.memory.id, dot] as const)));
  const dot = dots.get(chosen) ?? lanes[0]?.dots[0];
  const around = useRead(api.relationships.graph, { id: dot?.memory.id ?? "", include_superseded: true }, [
    "relationship",
    "memory",
  ]);
  const graph = around.data?.nodes[0]?.id === dot?.memory.id ? around.data : undefined;
  const walk = (event: KeyboardEvent) => {
    const to = event.key.startsWith("Arrow") && dot && neighbour(lanes, dot.memory.id, event.key);
    if (!to) return;
    event.preventDefault();
    choose(to.id);
  };
  // The focus goes along, but never comes from elsewhere.
  useEffect(() => {
    if (field.current?.contains(document.activeElement))
      field.current.querySelector<HTMLElement>(`[data-id="${chosen}"]`)?.focus();
  }, [chosen]);
  const height = lanes.reduce((sum, lane) => sum + lane.height, 0);
  return (
    <>
      <Card
        flush
        title={plural(memories.length, "memory", "memories")}
        actions={TYPES.map((type) => (
          <span key={type} className="row muted small">
            <i className={`map-dot ${type}`} /> {capitalised(type)}
          </span>
        ))}
      >
        <div className="map">
          <ol className="map-lanes" aria-hidden>
            {lanes.map(({ name, height, dots }) => (
              <li key={name} style={{ height }} title={`${name}: ${dots.length}`}>
                <span>{name}</span> <span className="faint">{dots.length}</span>
              </li>
            ))}
          </ol>
          {/* biome-ignore lint/a11y/noStaticElementInteractions: keys move between the buttons in it */}
          <div className="map-field" ref={field} onKeyDown={walk}>
            <svg aria-hidden height={height} width="100%">
              {lanes.map(({ name, top, height }) => (
                <rect key={name} y={top} height={height} width="100%" />
              ))}
              {graph?.edges.map((edge) => {
                const to = dots.get(otherOf(edge, graph.nodes[0]?.id));
                return dot && to && <line key={edge.id} x1={dot.x} y1={dot.y} x2={to.x} y2={to.y} />;
              })}
            </svg>
            {[...dots.values()].map(({ memory, x, y }) => (
              <button
                key={memory.id}
                type="button"
                data-id={memory.id}
                className={`map-dot ${memory.type} ${memory.status}`}
                style={{ left: x, top: y }}
                title={`${memory.title}\n${fullTime(memory.valid_from)}`}
                aria-label={`${memory.title}, ${laneOf(memory)}`}
                aria-current={memory === dot?.memory || undefined}
                tabIndex={memory === dot?.memory ? 0 : -1}
                onClick={() => choose(memory.id)}
              />
            ))}
            <Ticks {...axis} most={width / TICK_WIDTH} />
          </div>
        </div>
      </Card>
      {dot && <Chosen memory={dot.memory} graph={graph} known={dots} choose={choose} />}
    </>
  );
}

const ownerOf = ({ agent_id, user_id }: Memory) => agent_id ?? user_id ?? "";

const otherOf = (edge: Relationship, id: string | undefined) =>
  edge.source_memory_id === id ? edge.target_memory_id : edge.source_memory_id;

interface ChosenProps {
  memory: Memory;
  graph: { nodes: Memory[]; edges: Relationship[] } | undefined;
  known: ReadonlyMap<string, unknown>;
  choose(id: string): void;
}

/** The chosen memory, and the way on to those it relates to. */
function Chosen({ memory, graph, known, choose }: ChosenProps) {
  return (
    <Card title={memory.title} actions={<ButtonLink label="Open" small to={`/memories/${memory.id}`} />}>
      <div className="stack tight">
        <Markdown>{memory.content}</Markdown>
        <p className="row muted small">
          <ScopeBadge scope={memory.scope} />
          {memory.status !== "active" && <StatusBadge memory={memory} />} {capitalised(memory.type)}, since{" "}
          <Time at={memory.valid_from} />
        </p>
        <ul className="row map-ties" aria-label="Related memories">
          {graph?.edges.map((edge) => {
            const other = graph.nodes.find(({ id }) => id === otherOf(edge, memory.id));
            const label = `${relationWords(edge)}: ${other?.title}`;
            return (
              <li key={edge.id}>
                {other && known.has(other.id) ? (
                  <button type="button" className="link" onClick={() => choose(other.id)}>
                    {label}
                  </button>
                ) : (
                  <span className="muted">{label}</span>
                )}
              </li>
            );
          })}
        </ul>
      </div>
    </Card>
  );
}
