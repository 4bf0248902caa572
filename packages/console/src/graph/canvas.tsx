import {
  Background,
  BackgroundVariant,
  Controls,
  type Edge,
  Handle,
  MarkerType,
  MiniMap,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStore,
} from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import "./graph.css";
import { foldRanks, heightOf, isInView, type Layout, LEAST_ZOOM, layOut, viewOf } from "./layout.ts";

interface GraphNode {
  id: string;
  /** The label for screen readers. */
  label: string;
  content: ReactNode;
  /** Its colour in the overview of a large graph. */
  tone?: string | undefined;
}

interface GraphEdge {
  id: string;
  from: string;
  to: string;
  label?: string;
  tone?: "done" | "waiting";
}

export interface CanvasProps {
  label: string;
  nodes: GraphNode[];
  edges: GraphEdge[];
  size: { width: number; height: number };
  selected?: string | null;
  onSelect?: (id: string) => void;
  /** Called when the person drags an edge from one node to another. Without it edges cannot be drawn. */
  onConnect?: ((from: string, to: string) => void) | undefined;
  onRemove?: ((from: string, to: string) => void) | undefined;
  /** Whether ranks with many nodes may be broken into several: where the order of nodes in a rank means nothing. */
  folds?: boolean;
  /** Height of the picture in pixels. Default: as needed. */
  height?: number;
}

interface Data extends Record<string, unknown> {
  content: ReactNode;
  down: boolean;
  connectable: boolean;
  tone: string | undefined;
}

type Size = CanvasProps["size"];

/**
 * A directed graph in layers: from left to right, or downwards on a narrow screen. Its words stay readable: what does not
 * fit is moved by dragging, and an overview shows where.
 */
export function Canvas(props: CanvasProps) {
  const { label, nodes, edges, size, folds = false } = props;
  const frame = useRef<HTMLElement>(null);
  const width = useWidth(frame);
  const down = width < NARROW_WIDTH;
  const labelled = edges.some((edge) => edge.label !== undefined) && !down;
  const { placed, isFolded } = useMemo(() => {
    const boxes = nodes.map(({ id }) => ({ id, ...size }));
    const direction = down ? "down" : "right";
    const laidOut = layOut(boxes, edges, direction, labelled ? 120 : 56);
    const placed = folds ? foldRanks(laidOut, size, direction, width) : laidOut;
    return { placed, isFolded: placed !== laidOut };
  }, [nodes, edges, size, down, labelled, folds, width]);
  const height = props.height ?? heightOf(placed, size, width);
  return (
    <section ref={frame} className="graph" aria-label={label} style={{ height }}>
      {/* Another direction is another graph: the ends of the edges are measured only once. */}
      <ReactFlowProvider key={String(down)}>
        <Flow {...props} edges={isFolded ? edges.map(unlabelled) : edges} down={down} placed={placed} />
      </ReactFlowProvider>
    </section>
  );
}

/** Between several columns of nodes there is no room for words. */
const unlabelled = ({ label: _, ...edge }: GraphEdge): GraphEdge => edge;

const NODE_TYPES = { box: BoxNode };
/** Of the overview: as wide or as high as the graph, roughly. */
const OVERVIEW = { down: { width: 90, height: 120 }, right: { width: 180, height: 80 } };
/** Below this width the layers go downwards. */
const NARROW_WIDTH = 620;
/** A line may be dropped anywhere on the left half of a node. */
const CONNECTION_RADIUS = 110;
function Flow(props: CanvasProps & { down: boolean; placed: Layout }) {
  const { nodes, edges, size, selected, onSelect, onConnect, onRemove, down, placed } = props;
  const { isWhole } = useView(placed, size, selected);
  const select = (id: string) => id !== selected && onSelect?.(id);
  // Keyboard focus follows the order of the page, so it must match the picture.
  const turns = [...placed.keys()];
  const inTurn = nodes.toSorted((a, b) => turns.indexOf(a.id) - turns.indexOf(b.id));
  const shown = inTurn.map(
    ({ id, label, content, tone }): Node<Data> => ({
      id,
      type: "box",
      position: placed.get(id) ?? { x: 0, y: 0 },
      data: { content, down, connectable: onConnect !== undefined, tone },
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
      autoPanOnConnect={!isWhole}
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
      minZoom={LEAST_ZOOM}
      maxZoom={1.6}
      proOptions={{ hideAttribution: true }}
    >
      <Background variant={BackgroundVariant.Dots} gap={18} size={1} />
      <Controls showInteractive={false} showFitView={false} />
      {!isWhole && (
        <MiniMap
          pannable
          style={OVERVIEW[down ? "down" : "right"]}
          ariaLabel={`${props.label}: overview`}
          nodeClassName={toneOf}
        />
      )}
    </ReactFlow>
  );
}

const toneOf = ({ data, selected }: Node<Data>) => `${data.tone ?? ""}${selected ? " selected" : ""}`;

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

/** Shows the graph again when it or its frame changes, and brings a node into view that was selected elsewhere. */
function useView(placed: Layout, size: Size, selected: string | null = null): { isWhole: boolean } {
  const { setViewport, getViewport } = useReactFlow();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const box = selected ? placed.get(selected) : undefined;
  const view = viewOf(placed, size, { width, height }, box);
  const picture = [...placed].map(([id, { x, y }]) => `${id} ${x} ${y}`).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another picture, not another view, is drawn again
  useEffect(() => {
    if (width === 0) return;
    const frame = requestAnimationFrame(() => setViewport(view));
    return () => cancelAnimationFrame(frame);
  }, [picture, width, height]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when another node is selected
  useEffect(() => {
    if (box && width > 0 && !isInView(box, size, getViewport(), { width, height })) setViewport(view);
  }, [selected]);
  return { isWhole: view.isWhole };
}

/** The width of an element, in pixels. */
export function useWidth(frame: RefObject<HTMLElement | null>): number {
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
