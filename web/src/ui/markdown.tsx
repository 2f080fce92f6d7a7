import { Fragment, useMemo, type ReactNode } from "react";
import { hostBehind, parseMarkdown, type Block, type Inline } from "../lib/markdown.ts";
import { cutText, escapeText } from "../lib/text.ts";

const longest = 200_000; // characters that are drawn

/** Markdown draws the Markdown of others. below is the level of the heading that it stands under. */
export function Markdown({ text, below }: { text: string; below: number }) {
  const cut = cutText(text, longest);
  const blocks = useMemo(() => parseMarkdown(cut.text), [cut.text]);
  return (
    <div className="markdown">
      <Blocks blocks={blocks} below={below} />
      {cut.left > 0 ? <p className="muted">… {cut.left.toLocaleString("en-US")} characters more</p> : null}
    </div>
  );
}

const Blocks = ({ blocks, below }: { blocks: Block[]; below: number }) => blocks.map((b, i) => <BlockView key={i} b={b} below={below} />);

function BlockView({ b, below }: { b: Block; below: number }): ReactNode {
  switch (b.kind) {
    case "heading": {
      const Heading = `h${Math.min(6, below + b.level)}` as "h3";
      return (
        <Heading>
          <Words parts={b.parts} />
        </Heading>
      );
    }
    case "paragraph":
      return (
        <p className="wrap">
          <Words parts={b.parts} />
        </p>
      );
    case "code":
      return (
        <pre className="output" tabIndex={0} aria-label="code">
          {escapeText(b.text)}
        </pre>
      );
    case "quote":
      return (
        <blockquote>
          <Blocks blocks={b.blocks} below={below} />
        </blockquote>
      );
    case "list": {
      const items = b.items.map((blocks, i) => (
        <li key={i}>
          <Blocks blocks={blocks} below={below} />
        </li>
      ));
      return b.first === null ? <ul>{items}</ul> : <ol start={b.first}>{items}</ol>;
    }
    case "table":
      return (
        <div className="scroll-x" tabIndex={0} role="region" aria-label="Table">
          <table>
            <thead>
              <tr>
                {b.head.map((cell, i) => (
                  <th key={i} scope="col">
                    <Words parts={cell} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {b.rows.map((row, i) => (
                <tr key={i}>
                  {row.map((cell, j) => (
                    <td key={j}>
                      <Words parts={cell} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    case "details":
      return (
        <details>
          <summary>
            <Words parts={b.summary} />
          </summary>
          <Blocks blocks={b.blocks} below={below} />
        </details>
      );
    case "rule":
      return <hr />;
  }
}

const Words = ({ parts }: { parts: Inline[] }) =>
  parts.map((p, i): ReactNode => {
    switch (p.kind) {
      case "text":
        return <Fragment key={i}>{escapeText(p.text)}</Fragment>;
      case "code":
        return <code key={i}>{escapeText(p.text)}</code>;
      case "strong":
        return (
          <strong key={i}>
            <Words parts={p.parts} />
          </strong>
        );
      case "em":
        return (
          <em key={i}>
            <Words parts={p.parts} />
          </em>
        );
      case "link": {
        const host = hostBehind(p.url, p.parts);
        return (
          <Fragment key={i}>
            <a href={p.url} title={p.url} target="_blank" rel="noopener noreferrer">
              <Words parts={p.parts} />
            </a>
            {host ? <span className="muted"> ({host})</span> : null}
          </Fragment>
        );
      }
    }
  });
