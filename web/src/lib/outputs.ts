import type { LiveOutput, TranscriptEntry } from "../types.ts";

/**
 * addOutput takes the next entry of a conversation into the outputs of the calls under way,
 * the oldest first: a newer one replaces the older of its call, and its end or its result
 * takes it out. Where nothing changes it is the same list.
 */
export function addOutput(outputs: LiveOutput[], e: TranscriptEntry): LiveOutput[] {
  const id = e.output?.id ?? e.toolCall?.id;
  const at = outputs.findIndex((o) => o.id === id);
  if (e.output && e.output.lines && e.output.lines.length > 0) {
    return at < 0 ? [...outputs, e.output] : outputs.with(at, e.output);
  }
  return at < 0 ? outputs : outputs.toSpliced(at, 1);
}
