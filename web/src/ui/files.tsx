import { useState, type ReactNode } from "react";
import { Problem } from "../lib/api.ts";
import { formatBytes, readFiles, type Chosen } from "../lib/attach.ts";
import { escapeLine } from "../lib/text.ts";
import { ProblemBox } from "./parts.tsx";

/** Attached is what a form has of files, and how more are taken. */
export interface Attached {
  chosen: Chosen[];
  problem: Problem | null;
  take: (files: FileList | null) => Promise<void>;
  remove: (id: number) => void;
}

/** useAttached keeps the files of a form. Those that come while others are read wait for them. */
export function useAttached(): Attached {
  const [state, setState] = useState<{ chosen: Chosen[]; problem: Problem | null }>({ chosen: [], problem: null });
  const [line] = useState(() => ({ chosen: [] as Chosen[], last: Promise.resolve() }));
  const show = (chosen: Chosen[], problem: Problem | null) => {
    line.chosen = chosen;
    setState({ chosen, problem });
  };
  const take = (files: FileList | null): Promise<void> => {
    const parts = [...(files ?? [])]; // the list empties once the event is over
    line.last = line.last.then(async () => {
      const known = line.chosen;
      const read = await readFiles(parts, known);
      const gone = new Set(known.filter((c) => !line.chosen.includes(c)).map((c) => c.id)); // removed while these were read
      show(read.chosen.filter((c) => !gone.has(c.id)), read.problem && new Problem(0, read.problem));
    });
    return line.last;
  };
  return { ...state, take, remove: (id) => show(line.chosen.filter((c) => c.id !== id), null) };
}

/** DropArea takes files that are dropped onto what it holds. */
export function DropArea({ attached, children }: { attached: Attached; children: ReactNode }) {
  const [over, setOver] = useState(false);
  const hasFiles = (e: React.DragEvent) => e.dataTransfer.types.includes("Files");
  return (
    <div
      className={over ? "stack drop over" : "stack drop"}
      data-testid="drop-files"
      onDragOver={(e) => {
        if (!hasFiles(e)) return;
        e.preventDefault(); // the browser would leave the page for the file
        setOver(true);
      }}
      onDragLeave={(e) => {
        if (!e.currentTarget.contains(e.relatedTarget as Node | null)) setOver(false);
      }}
      onDrop={(e) => {
        setOver(false);
        if (!hasFiles(e)) return;
        e.preventDefault();
        void attached.take(e.dataTransfer.files);
      }}
    >
      {children}
    </div>
  );
}

/** FileField chooses files, and lists those that are chosen. */
export function FileField({ attached }: { attached: Attached }) {
  return (
    <div className="stack">
      <label className="field">
        Files for the agents
        <input
          type="file"
          multiple
          data-testid="attach"
          onChange={(e) => {
            const input = e.target;
            void attached.take(input.files);
            input.value = ""; // the list below tells; the same file can be chosen again
          }}
        />
        <span className="hint">Texts, and PNG, JPEG, GIF and WebP images, for models that take images. They can be dropped onto the form, too.</span>
      </label>
      {attached.chosen.length > 0 ? (
        <ul className="stack small" aria-label="Files that go with the instruction" data-testid="attached">
          {attached.chosen.map((c) => (
            <li key={c.id} className="row">
              <span className="mono wrap">{escapeLine(c.name)}</span>
              <span className="muted num">{formatBytes(c.content.length)}</span>
              <button type="button" aria-label={"Remove " + escapeLine(c.name)} onClick={() => attached.remove(c.id)}>
                Remove
              </button>
            </li>
          ))}
        </ul>
      ) : null}
      {attached.problem ? <ProblemBox problem={attached.problem} /> : null}
    </div>
  );
}
