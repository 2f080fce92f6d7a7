import assert from "node:assert/strict";
import { test } from "node:test";
import { SSEParser, type SSEvent } from "../src/lib/sse.ts";

function parse(...pieces: string[]): { events: SSEvent[]; comments: number } {
  const events: SSEvent[] = [];
  let comments = 0;
  const p = new SSEParser(
    (e) => events.push(e),
    () => comments++,
  );
  for (const piece of pieces) p.push(piece);
  return { events, comments };
}

const stream = 'id: 7\ndata: {"seq":7}\n\n: beat\n\nevent: gap\ndata: {}\n\ndata: a\ndata: b\r\n\r\nevent: end\rdata: {}\r\r\n';

test("a stream is the same in whatever pieces it comes", () => {
  const whole = parse(stream);
  assert.deepEqual(whole.events, [
    { event: "message", data: '{"seq":7}', id: "7" },
    { event: "gap", data: "{}", id: undefined },
    { event: "message", data: "a\nb", id: undefined },
    { event: "end", data: "{}", id: undefined },
  ]);
  assert.equal(whole.comments, 1);
  for (let size = 1; size < 9; size++) {
    const pieces: string[] = [];
    for (let i = 0; i < stream.length; i += size) pieces.push(stream.slice(i, i + size));
    assert.deepEqual(parse(...pieces), whole, `pieces of ${size}`);
  }
});

test("an event that is cut off is no event", () => {
  assert.deepEqual(parse("data: half").events, []);
  assert.deepEqual(parse("data: half\n").events, []);
  assert.deepEqual(parse("event: gap\n\n").events, [], "an event without data");
});

test("a byte order mark, a field without a colon and an unknown field are passed over", () => {
  assert.deepEqual(parse("\ufeffdata\n\n").events, [{ event: "message", data: "", id: undefined }]);
  assert.deepEqual(parse("retry: 10\nfoo\ndata:x\n\n").events, [{ event: "message", data: "x", id: undefined }]);
});
