import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, type ReactNode } from "react";

const most = 40; // rows that are drawn without a list of their own

/** Rows draws a list; of a long one, the rows that are in sight. height is that of a row, in pixels. */
export function Rows<T>({ items, height, role, children }: { items: T[]; height: number; role?: string; children: (item: T) => ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const virtual = items.length > most;
  const v = useVirtualizer({ count: virtual ? items.length : 0, getScrollElement: () => box.current, estimateSize: () => height, overscan: 8 });
  useEffect(() => v.measure(), [height]);
  if (!virtual) return <div role={role}>{items.map((one) => children(one))}</div>;
  return (
    <div ref={box} role={role} className="long-list">
      <div className="rows" role="presentation" style={{ height: v.getTotalSize() }}>
        {v.getVirtualItems().map((row) => {
          const one = items[row.index];
          return one === undefined ? null : (
            <div key={row.index} role="presentation" style={{ position: "absolute", top: 0, left: 0, right: 0, transform: `translateY(${row.start}px)` }}>
              {children(one)}
            </div>
          );
        })}
      </div>
    </div>
  );
}
