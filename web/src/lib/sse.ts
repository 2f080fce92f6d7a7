// Server-sent events, read from a fetch: EventSource cannot send the token.

export interface SSEvent {
  event: string; // "message" where none is named
  data: string;
  id?: string;
}

/** SSEParser takes a stream in pieces and gives its events (HTML standard, 9.2.6). */
export class SSEParser {
  private rest: string[] = []; // pieces of a line whose end has not come
  private half = false; // they end with a return, which may be half of a line end
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
    if (piece === "") return;
    if (this.first && piece.charCodeAt(0) === 0xfeff) piece = piece.slice(1);
    this.first = false;
    this.rest.push(piece);
    if (!this.half && !/[\r\n]/.test(piece)) return; // a long line in many pieces is put together once
    const text = this.rest.join("");
    let from = 0;
    for (;;) {
      let end = from;
      while (end < text.length && text[end] !== "\n" && text[end] !== "\r") end++;
      // A return at the very end may be half of a line end: the next piece tells.
      if (end >= text.length || (text[end] === "\r" && end + 1 >= text.length)) break;
      this.takeLine(text.slice(from, end));
      from = end + (text[end] === "\r" && text[end + 1] === "\n" ? 2 : 1);
    }
    this.rest = from < text.length ? [text.slice(from)] : [];
    this.half = text.length > from && text.endsWith("\r");
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
