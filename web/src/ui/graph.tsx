import { Background, Controls, Handle, Position, ReactFlow, type Edge, type Node, type NodeProps, type ReactFlowInstance } from "@xyflow/react";
import "@xyflow/react/dist/style.css";
import { useEffect, useMemo, useRef } from "react";
import { signs, subtaskState } from "../lib/format.ts";
import { placeGraph } from "../lib/layout.ts";
import { escapeLine } from "../lib/text.ts";
import type { Subtask } from "../types.ts";

type SubtaskNode = Node<{ sub: Subtask; selected: boolean }, "subtask">;

function SubtaskBox({ data }: NodeProps<SubtaskNode>) {
  const state = subtaskState(data.sub);
  return (
    <div className={`graph-node ${state.tone} ${data.selected ? "selected" : ""}`}>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <span className="title cut">{escapeLine(data.sub.title)}</span>
      <span className="cut">
        <span className="mono muted">{data.sub.id}</span>{" "}
        <span className={"ink-" + state.tone}>
          {signs[state.tone]} {state.text}
        </span>
        {data.sub.attempts > 1 ? <span className="muted"> · {data.sub.attempts} attempts</span> : null}
      </span>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
}

const fit = { padding: 0.12, maxZoom: 1 };

const nodeTypes = { subtask: SubtaskBox };

/** PlanGraph draws the subtasks and what each comes after. The list beside it has the same. */
export default function PlanGraph({ plan, selected, onSelect }: { plan: Subtask[]; selected: string; onSelect: (id: string) => void }) {
  const shape = plan.map((s) => `${s.id}:${s.wave}:${(s.after ?? []).join(",")}`).join(" ");
  const placed = useMemo(() => placeGraph(plan.map((s) => ({ id: s.id, wave: s.wave, after: s.after ?? [] }))), [shape]);
  const subs = new Map(plan.map((s) => [s.id, s]));
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  // A box whose words are the same keeps its node, so that what is drawn of it is left alone.
  const known = useRef(new Map<string, { words: string; node: SubtaskNode }>());
  const nodes = placed.placed.flatMap((p): SubtaskNode[] => {
    const sub = subs.get(p.id);
    if (!sub) return [];
    const words = JSON.stringify([p.column, p.row, sub.title, sub.status, sub.paused, sub.attempts, p.id === selected]);
    const old = known.current.get(p.id);
    if (old?.words === words) return [old.node];
    const node: SubtaskNode = { id: p.id, type: "subtask", position: { x: p.column * 270, y: p.row * 82 }, data: { sub, selected: p.id === selected }, ariaLabel: `${sub.id} ${escapeLine(sub.title)}: ${subtaskState(sub).text}` };
    known.current.set(p.id, { words, node });
    return [node];
  });
  const running = plan.filter((s) => s.status === "running").map((s) => s.id).join(" ");
  const edges = useMemo(() => {
    const to = new Set(calm ? [] : running.split(" "));
    return placed.edges.map((e): Edge => ({ id: e.from + ">" + e.to, source: e.from, target: e.to, animated: to.has(e.to), focusable: false }));
  }, [placed, running, calm]);
  const box = useRef<HTMLDivElement>(null);
  const flow = useRef<ReactFlowInstance<SubtaskNode> | null>(null);
  useEffect(() => {
    let width = box.current?.clientWidth ?? 0;
    const watch = new ResizeObserver(([entry]) => {
      const now = Math.round(entry?.contentRect.width ?? 0);
      if (now === width || now === 0) return;
      width = now;
      requestAnimationFrame(() => void flow.current?.fitView(fit));
    });
    if (box.current) watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  return (
    <div className="graph" data-testid="graph" ref={box}>
      <ReactFlow
        key={shape}
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        onNodeClick={(_, n) => onSelect(n.id)}
        nodesDraggable={false}
        nodesConnectable={false}
        edgesFocusable={false}
        deleteKeyCode={null}
        fitView
        fitViewOptions={fit}
        onInit={(made) => (flow.current = made)}
        minZoom={0.1}
        preventScrolling={false}
        zoomOnScroll={false}
        onlyRenderVisibleElements={plan.length > 100}
        proOptions={{ hideAttribution: true }}
        aria-label="Subtasks and their order"
      >
        <Background gap={18} size={1} />
        <Controls showInteractive={false} orientation="horizontal" position="bottom-right" />
      </ReactFlow>
    </div>
  );
}
