// Server-sent events, read from a fetch: EventSource cannot send the token.

export interface SSEvent {
  event: string; // "message" where none is named
  data: string;
  id?: string;
}

/** SSEParser takes a stream in pieces and gives its events (HTML standard, 9.2.6). */
export class SSEParser {
  private rest = "";
  private event = "";
  private data: string[] = [];
  private id: string | undefined;
  private first = true;
  private readonly onEvent: (e: SSEvent) => void;
  private readonly onComment: () => void;

  constructor(onEvent: (e: SSEvent) => void, onComment: () => void = () => {}) {
    this.onEvent = onEvent;
    this.onComment = onComment;
  }

  /** push takes the next piece of the stream. */
  push(piece: string): void {
    let text = this.rest + piece;
    if (this.first && text.length > 0) {
      if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
      this.first = false;
    }
    if (!/[\r\n]$/.test(this.rest) && !/[\r\n]/.test(piece)) {
      this.rest = text; // a long line in many pieces is looked through once
      return;
    }
    let from = 0;
    for (;;) {
      let end = from;
      while (end < text.length && text[end] !== "\n" && text[end] !== "\r") end++;
      // A return at the very end may be half of a line end: the next piece tells.
      if (end >= text.length || (text[end] === "\r" && end + 1 >= text.length)) break;
      this.takeLine(text.slice(from, end));
      from = end + (text[end] === "\r" && text[end + 1] === "\n" ? 2 : 1);
    }
    this.rest = text.slice(from);
  }

  private takeLine(line: string): void {
    if (line === "") {
      if (this.data.length > 0) {
        this.onEvent({ event: this.event || "message", data: this.data.join("\n"), id: this.id });
      }
      this.event = "";
      this.data = [];
      this.id = undefined;
      return;
    }
    if (line.startsWith(":")) {
      this.onComment();
      return;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (field === "event") this.event = value;
    else if (field === "data") this.data.push(value);
    else if (field === "id" && !value.includes("\0")) this.id = value;
  }
}
