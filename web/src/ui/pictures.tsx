import { useEffect, useState } from "react";
import { asProblem } from "../lib/api.ts";
import { describeAttachment, isShownImage, readPicture } from "../lib/attach.ts";
import { escapeLine } from "../lib/text.ts";
import type { Attachment } from "../types.ts";

const mostPixels = 16_000_000; // of a picture that is shown unasked: a browser needs 4 bytes for each

/** Pictures shows the images that came with an instruction, small until they are pressed. */
export function Pictures({ task, all }: { task: string; all: Attachment[] }) {
  const images = all.filter(isShownImage);
  if (images.length === 0) return null;
  return (
    <ul className="pictures" aria-label="Images that came with the instruction" data-testid="task-images">
      {images.map((a) => (
        <li key={a.name}>
          <Picture task={task} a={a} />
        </li>
      ))}
    </ul>
  );
}

function Picture({ task, a }: { task: string; a: Attachment }) {
  const name = escapeLine(a.name);
  const [wanted, setWanted] = useState((a.width ?? 0) * (a.height ?? 0) <= mostPixels);
  const [large, setLarge] = useState(false);
  const [shown, setShown] = useState({ url: "", problem: "" });
  useEffect(() => {
    if (!wanted) return;
    const stop = new AbortController();
    let url = "";
    readPicture(task, a, stop.signal).then(
      (picture) => {
        if (stop.signal.aborted) return;
        url = URL.createObjectURL(picture);
        setShown({ url, problem: "" });
      },
      (err: unknown) => stop.signal.aborted || setShown({ url: "", problem: asProblem(err).message }),
    );
    return () => {
      stop.abort();
      if (url) URL.revokeObjectURL(url);
    };
  }, [task, a.name, a.type, wanted]);
  if (!wanted) return <button onClick={() => setWanted(true)}>{`Show ${name} (${describeAttachment(a)})`}</button>;
  if (shown.problem) return <span className="small ink-warn">{`${name} is not shown: ${escapeLine(shown.problem)}`}</span>;
  if (!shown.url) return <span className="small muted">{`reading ${name} …`}</span>;
  return (
    <button className="plain" aria-pressed={large} title={large ? "make it small" : "make it large"} onClick={() => setLarge(!large)}>
      <img className={large ? "large" : ""} src={shown.url} alt={name} decoding="async" onError={() => setShown({ url: "", problem: "the browser cannot draw it" })} />
    </button>
  );
}
