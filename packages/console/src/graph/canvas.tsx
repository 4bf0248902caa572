import {
  Background,
  BackgroundVariant,
  Controls,
  type Edge,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStore,
} from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { layOut } from "./layout.ts";
import "./graph.css";

interface GraphNode {
  id: string;
  /** What a screen reader says of it. */
  label: string;
  content: ReactNode;
}

interface GraphEdge {
  id: string;
  from: string;
  to: string;
  label?: string;
  tone?: "done" | "waiting";
}

interface Props {
  label: string;
  nodes: GraphNode[];
  edges: GraphEdge[];
  size: { width: number; height: number };
  selected?: string | null;
  onSelect?: (id: string) => void;
  /** Height of the picture in pixels. Default: as high as it needs. */
  height?: number;
}

interface Data extends Record<string, unknown> {
  content: ReactNode;
  down: boolean;
}

type Size = Props["size"];
type Placed = ReturnType<typeof layOut>;

/** A directed graph, laid out in layers: from left to right, or downwards where there is little room. */
export function Canvas(props: Props) {
  const { label, nodes, edges, size } = props;
  const frame = useRef<HTMLElement>(null);
  const width = useWidth(frame);
  const down = width < NARROW;
  const labelled = edges.some((edge) => edge.label !== undefined) && !down;
  const placed = useMemo(() => {
    const boxes = nodes.map(({ id }) => ({ id, ...size }));
    return layOut(boxes, edges, down ? "down" : "right", labelled ? 120 : 56);
  }, [nodes, edges, size, down, labelled]);
  const height = props.height ?? heightOf(placed, size, width);
  return (
    <section ref={frame} className="graph" aria-label={label} style={{ height }}>
      {/* Another direction is another graph: where the lines end is measured once. */}
      <ReactFlowProvider key={String(down)}>
        <Flow {...props} down={down} placed={placed} />
      </ReactFlowProvider>
    </section>
  );
}

const NODE_TYPES = { box: BoxNode };
/** Below it the layers go downwards. */
const NARROW = 620;
const MOST_ZOOM = 1.1;
const LEAST_HEIGHT = 180;
const MOST_HEIGHT = 560;
/** For the controls below and some air above. */
const AROUND = 88;

/** As high as all of it needs where it is as wide as there is room for. */
function heightOf(placed: Placed, size: Size, width: number): number {
  const places = [...placed.values()];
  const right = Math.max(0, ...places.map(({ x }) => x + size.width));
  const bottom = Math.max(0, ...places.map(({ y }) => y + size.height));
  const zoom = Math.min(MOST_ZOOM, (width * 0.92) / Math.max(1, right));
  return Math.min(MOST_HEIGHT, Math.max(LEAST_HEIGHT, Math.round(bottom * zoom) + AROUND));
}

function Flow({
  nodes,
  edges,
  size,
  selected,
  onSelect,
  down,
  placed,
}: Props & { down: boolean; placed: Placed }) {
  const select = (id: string) => id !== selected && onSelect?.(id);
  // Keys walk them in the order of the page, which is that of the picture then.
  const turns = [...placed.keys()];
  const inTurn = nodes.toSorted((a, b) => turns.indexOf(a.id) - turns.indexOf(b.id));
  const shown = inTurn.map(
    ({ id, label, content }): Node<Data> => ({
      id,
      type: "box",
      position: placed.get(id) ?? { x: 0, y: 0 },
      data: { content, down },
      selected: id === selected,
      ariaLabel: label,
      // Known before it is measured, so that the first picture is the last.
      width: size.width,
      height: size.height,
    }),
  );
  return (
    <ReactFlow
      nodes={shown}
      edges={edges.map(edgeOf)}
      nodeTypes={NODE_TYPES}
      nodesDraggable={false}
      nodesConnectable={false}
      nodesFocusable={onSelect !== undefined}
      edgesFocusable={false}
      elementsSelectable={onSelect !== undefined}
      onNodeClick={(_, { id }) => select(id)}
      onNodesChange={(changes) => {
        const chosen = changes.find((change) => change.type === "select" && change.selected);
        if (chosen && "id" in chosen) select(chosen.id);
      }}
      zoomOnScroll={false}
      preventScrolling={false}
      minZoom={0.2}
      maxZoom={1.6}
      proOptions={{ hideAttribution: true }}
    >
      <Background variant={BackgroundVariant.Dots} gap={18} size={1} />
      <Controls showInteractive={false} />
      <Fit by={`${nodes.map(({ id }) => id).join()} ${edges.map(({ id }) => id).join()}`} />
    </ReactFlow>
  );
}

function BoxNode({ data }: NodeProps<Node<Data>>) {
  return (
    <>
      <Handle type="target" position={data.down ? Position.Top : Position.Left} isConnectable={false} />
      {data.content}
      <Handle type="source" position={data.down ? Position.Bottom : Position.Right} isConnectable={false} />
    </>
  );
}

function edgeOf({ id, from, to, label, tone }: GraphEdge): Edge {
  return {
    id,
    source: from,
    target: to,
    ...(label === undefined ? {} : { label }),
    className: tone ?? "waiting",
    markerEnd: { type: MarkerType.ArrowClosed, color: "var(--graph-line)", width: 16, height: 16 },
    labelBgPadding: [5, 3],
    labelBgBorderRadius: 4,
  };
}

/** The controls stand below. */
const PADDING = { top: "20px", left: "16px", right: "16px", bottom: "52px" } as const;

/** Shows all of the graph when it has become another one. */
function Fit({ by }: { by: string }) {
  const { fitView } = useReactFlow();
  // As it has been measured: before, what fits is not known.
  const room = useStore(({ width, height }) => `${width} ${height}`);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `by` and `room` say when the picture is another one
  useEffect(() => {
    const frame = requestAnimationFrame(() => fitView({ padding: PADDING, maxZoom: MOST_ZOOM }));
    return () => cancelAnimationFrame(frame);
  }, [by, room, fitView]);
  return null;
}

function useWidth(frame: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(() => window.innerWidth - 300);
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => entry && setWidth(entry.contentRect.width));
    if (frame.current) watch.observe(frame.current);
    return () => watch.disconnect();
  }, [frame]);
  return width;
}
