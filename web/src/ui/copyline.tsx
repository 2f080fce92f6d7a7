import { useRef, useState } from "react";
import { escapeLine } from "../lib/text.ts";
import { tell } from "./notices.tsx";

/** CopyLine is a command with a button that copies it. */
export function CopyLine({ what, text }: { what: string; text: string }) {
  const line = useRef<HTMLElement>(null);
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), 2000);
    } catch {
      // Browsers give no clipboard to a page that has neither https nor this machine's name.
      if (line.current) getSelection()?.selectAllChildren(line.current);
      tell("The browser gives no clipboard here. The command is selected: copy it by key.", true);
    }
  };
  return (
    <div className="row copy-line">
      <span className="small muted what">{what}</span>
      <code ref={line} className="wrap">
        {escapeLine(text)}
      </code>
      <button onClick={() => void copy()} aria-label={`Copy: ${text}`} data-row>
        {copied ? "Copied" : "Copy"}
      </button>
    </div>
  );
}
