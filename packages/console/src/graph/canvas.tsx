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
import { type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import "./graph.css";
import { Graph, layout as place } from "@dagrejs/dagre";

interface GraphNode {
  id: string;
  /** The label for screen readers. */
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
  /** Called when the person drags an edge from one node to another. Without it edges cannot be drawn. */
  onConnect?: ((from: string, to: string) => void) | undefined;
  /** Called when the person clicks an edge. */
  onRemove?: ((from: string, to: string) => void) | undefined;
  /** Height of the picture in pixels. Default: as needed. */
  height?: number;
}

interface Data extends Record<string, unknown> {
  content: ReactNode;
  down: boolean;
  connectable: boolean;
}

type Size = Props["size"];
type Layout = ReturnType<typeof layOut>;

/** A directed graph in layers: from left to right, or downwards on a narrow screen. */
export function Canvas(props: Props) {
  const { label, nodes, edges, size } = props;
  const frame = useRef<HTMLElement>(null);
  const width = useWidth(frame);
  const down = width < NARROW_WIDTH;
  const labelled = edges.some((edge) => edge.label !== undefined) && !down;
  const placed = useMemo(() => {
    const boxes = nodes.map(({ id }) => ({ id, ...size }));
    return layOut(boxes, edges, down ? "down" : "right", labelled ? 120 : 56);
  }, [nodes, edges, size, down, labelled]);
  const height = props.height ?? heightOf(placed, size, width);
  return (
    <section ref={frame} className="graph" aria-label={label} style={{ height }}>
      {/* Another direction is another graph: the ends of the edges are measured only once. */}
      <ReactFlowProvider key={String(down)}>
        <Flow {...props} down={down} placed={placed} />
      </ReactFlowProvider>
    </section>
  );
}

const NODE_TYPES = { box: BoxNode };
/** Below this width the layers go downwards. */
const NARROW_WIDTH = 620;
const MAX_ZOOM = 1.1;
/** A line may be dropped anywhere on the left half of a node. */
const CONNECTION_RADIUS = 110;
const LEAST_HEIGHT = 180;
const MAX_HEIGHT = 560;
/** For the controls below and a margin above. */
const MARGIN = 88;

/** Returns the height of the whole graph at the available width. */
function heightOf(placed: Layout, size: Size, width: number): number {
  const places = [...placed.values()];
  const right = Math.max(0, ...places.map(({ x }) => x + size.width));
  const bottom = Math.max(0, ...places.map(({ y }) => y + size.height));
  const zoom = Math.min(MAX_ZOOM, (width * 0.92) / Math.max(1, right));
  return Math.min(MAX_HEIGHT, Math.max(LEAST_HEIGHT, Math.round(bottom * zoom) + MARGIN));
}

function Flow(props: Props & { down: boolean; placed: Layout }) {
  const { nodes, edges, size, selected, onSelect, onConnect, onRemove, down, placed } = props;
  const select = (id: string) => id !== selected && onSelect?.(id);
  // Keyboard focus follows the order of the page, so it must match the picture.
  const turns = [...placed.keys()];
  const inTurn = nodes.toSorted((a, b) => turns.indexOf(a.id) - turns.indexOf(b.id));
  const shown = inTurn.map(
    ({ id, label, content }): Node<Data> => ({
      id,
      type: "box",
      position: placed.get(id) ?? { x: 0, y: 0 },
      data: { content, down, connectable: onConnect !== undefined },
      selected: id === selected,
      ariaLabel: label,
      // Set before it is measured, so that the first picture is final.
      width: size.width,
      height: size.height,
    }),
  );
  return (
    <ReactFlow
      nodes={shown}
      edges={edges.map((edge) => edgeOf(edge, onRemove !== undefined))}
      nodeTypes={NODE_TYPES}
      nodesDraggable={false}
      nodesConnectable={onConnect !== undefined}
      connectOnClick={false}
      // The whole graph is in view.
      autoPanOnConnect={false}
      connectionRadius={CONNECTION_RADIUS}
      onConnect={({ source, target }) => onConnect?.(source, target)}
      onEdgeClick={(_, { source, target }) => onRemove?.(source, target)}
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
      <Handle
        type="target"
        position={data.down ? Position.Top : Position.Left}
        isConnectable={data.connectable}
        isConnectableStart={false}
      />
      {data.content}
      <Handle
        type="source"
        position={data.down ? Position.Bottom : Position.Right}
        isConnectable={data.connectable}
        title={data.connectable ? "Drag to the step that depends on this one" : undefined}
      />
    </>
  );
}

function edgeOf({ id, from, to, label, tone }: GraphEdge, removable: boolean): Edge {
  return {
    id,
    source: from,
    target: to,
    ...(label === undefined ? {} : { label }),
    className: `${tone ?? "waiting"}${removable ? " removable" : ""}`,
    markerEnd: { type: MarkerType.ArrowClosed, color: "var(--graph-line)", width: 16, height: 16 },
    labelBgPadding: [5, 3],
    labelBgBorderRadius: 4,
  };
}

/** The controls are below. */
const PADDING = { top: "20px", left: "16px", right: "16px", bottom: "52px" } as const;

/** Fits the view when the graph changes. */
function Fit({ by }: { by: string }) {
  const { fitView } = useReactFlow();
  // Only after measuring is it known what fits.
  const room = useStore(({ width, height }) => `${width} ${height}`);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `by` and `room` say when the picture is another one
  useEffect(() => {
    const frame = requestAnimationFrame(() => fitView({ padding: PADDING, maxZoom: MAX_ZOOM }));
    return () => cancelAnimationFrame(frame);
  }, [by, room, fitView]);
  return null;
}

function useWidth(frame: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(() => window.innerWidth);
  // Measured before it is drawn: another width gives another height, and what is below would jump.
  useLayoutEffect(() => {
    const watch = new ResizeObserver(([entry]) => entry && setWidth(entry.contentRect.width));
    if (!frame.current) return;
    setWidth(frame.current.clientWidth);
    watch.observe(frame.current);
    return () => watch.disconnect();
  }, [frame]);
  return width;
}

interface Box {
  id: string;
  width: number;
  height: number;
}

export interface Line {
  from: string;
  to: string;
}

interface Placed {
  x: number;
  y: number;
}

/**
 * Computes the upper left corner of each box, so that edges lead from left to right (or down) with few crossings.
 * Returns the boxes in reading order.
 */
function layOut(
  boxes: Box[],
  lines: Line[],
  direction: "right" | "down",
  between: number,
): Map<string, Placed> {
  const graph = new Graph();
  graph.setGraph({
    rankdir: direction === "right" ? "LR" : "TB",
    nodesep: 20,
    ranksep: between,
    marginx: 8,
    marginy: 8,
  });
  graph.setDefaultEdgeLabel(() => ({}));
  const known = new Set(boxes.map(({ id }) => id));
  for (const { id, width, height } of boxes) graph.setNode(id, { width, height });
  for (const { from, to } of lines)
    if (known.has(from) && known.has(to) && from !== to) graph.setEdge(from, to);
  place(graph);
  const places = boxes.map(({ id, width, height }): [string, Placed] => {
    const { x, y } = graph.node(id) as Placed;
    return [id, { x: x - width / 2, y: y - height / 2 }];
  });
  const [along, across] = direction === "right" ? (["x", "y"] as const) : (["y", "x"] as const);
  return new Map(places.sort(([, a], [, b]) => a[along] - b[along] || a[across] - b[across]));
}
