// Files with an instruction: the bounds that the office holds too, in its words.

import { send, type ProblemBody } from "./api.ts";
import { formatCount } from "./format.ts";
import { escapeLine } from "./text.ts";
import type { Attachment } from "../types.ts";

/** bounds are those of internal/company/attachment.go; a test holds them together. */
export const bounds = { files: 10, text: 256 * 1024, image: ((5 << 20) / 4) * 3, all: 16 << 20 };

/** imageTypes are the types of images that the page draws: those that the office takes. */
const imageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"];

export const isShownImage = (a: Attachment): boolean => imageTypes.includes(a.type);

/** readPicture asks the office for an attached image. The type is that of the list, whatever the answer says. */
export async function readPicture(task: string, a: Attachment, signal: AbortSignal): Promise<Blob> {
  const r = await send(`tasks/${encodeURIComponent(task)}/attachment?name=${encodeURIComponent(a.name)}`, { headers: { Accept: a.type }, signal });
  return new Blob([await r.arrayBuffer()], { type: isShownImage(a) ? a.type : "application/octet-stream" });
}

/** Chosen is a file that will go with an instruction. */
export interface Chosen {
  id: number;
  name: string;
  content: Uint8Array;
}

/** Part is what is read of a file: its name and size are known before its content is. */
export type Part = Pick<File, "name" | "size" | "arrayBuffer">;

/** formatBytes is a number of bytes as the office writes it, rounded up. */
export function formatBytes(n: number): string {
  if (n < 1024) return formatCount(n, "byte");
  const [unit, name] = n < 1 << 20 ? [1 << 10, "KiB"] : [1 << 20, "MiB"];
  return `${Math.ceil((n * 100) / unit) / 100} ${name}`;
}

/** describeAttachment says what a file is: "PNG image, 800x600, 33.7 KiB". */
export function describeAttachment(a: Attachment): string {
  if (!a.type.startsWith("image/")) return "text, " + formatBytes(a.bytes);
  return `${a.type.slice("image/".length).toUpperCase()} image, ${a.width}x${a.height}, ${formatBytes(a.bytes)}`;
}

const imageStarts: [number, number[]][] = [
  [0, [0x89, 0x50, 0x4e, 0x47]], // PNG
  [0, [0xff, 0xd8, 0xff]], // JPEG
  [0, [0x47, 0x49, 0x46, 0x38]], // GIF8
  [8, [0x57, 0x45, 0x42, 0x50]], // WEBP, in a RIFF
];

/** isText says whether a content is UTF-8 that an agent can read. */
function isText(content: Uint8Array): boolean {
  if (content.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(content);
    return true;
  } catch {
    return false;
  }
}

/** contentProblem says why a content is not taken. The office looks closer than this. */
function contentProblem(content: Uint8Array): string {
  if (imageStarts.some(([at, sign]) => sign.every((b, i) => content[at + i] === b))) return "";
  if (!isText(content)) return "it is neither UTF-8 text nor a PNG, JPEG, GIF or WebP image";
  if (content.length > bounds.text) return `the text has ${formatBytes(content.length)}, and may have ${formatBytes(bounds.text)}`;
  return "";
}

let lastID = 0;

/** readFiles reads files beside those chosen before. What is not taken is left out, and told. */
export async function readFiles(parts: Part[], before: Chosen[]): Promise<{ chosen: Chosen[]; problem: ProblemBody | null }> {
  const chosen = [...before];
  let problem: ProblemBody | null = null;
  const refuse = (title: string, detail: string, hint: string) => (problem ??= { title, detail, hint });
  let all = before.reduce((n, c) => n + c.content.length, 0);
  for (const part of parts) {
    const refused = escapeLine(part.name) + " is not attached";
    if (chosen.length >= bounds.files) {
      refuse(refused, `at most ${bounds.files} are taken`, "attach those that the work needs; others belong into the repository");
      break;
    }
    if (part.size > bounds.image) {
      refuse(refused, `it has ${formatBytes(part.size)}, and no file may have more than ${formatBytes(bounds.image)}`, "attach the part that matters, or put the file into the repository");
      continue;
    }
    let content: Uint8Array;
    try {
      content = new Uint8Array(await part.arrayBuffer());
    } catch {
      refuse(refused, "the browser cannot read it", "name a file that can be read, and no folder");
      continue;
    }
    const why = contentProblem(content);
    if (content.length === 0) refuse(refused, "the file is empty", "leave it out");
    else if (why !== "") refuse(refused, why, "attach UTF-8 text, PNG, JPEG, GIF or WebP; another file belongs into the repository");
    else if (all + content.length > bounds.all)
      refuse(`the files with the instruction have ${formatBytes(all + content.length)}`, `together they may have ${formatBytes(bounds.all)}: they go with each request to a model`, "make the images smaller, or attach fewer");
    else {
      chosen.push({ id: ++lastID, name: part.name, content });
      all += content.length;
    }
  }
  return { chosen, problem };
}

/** encodeBase64 writes bytes as base64, in pieces that an argument list can hold. */
export function encodeBase64(content: Uint8Array): string {
  let text = "";
  for (let at = 0; at < content.length; at += 0x8000) text += String.fromCharCode(...content.subarray(at, at + 0x8000));
  return btoa(text);
}
