// Text of models, strangers and repositories. React makes text nodes of it, so no markup
// runs; control and direction characters are shown as what they are, so that they hide
// nothing and turn nothing round.

// The same characters as safetext.Escape escapes: control, direction, and all that Unicode has drawn as nothing or as a blank that is none.
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2800\ufff9-\ufffb]|\p{Default_Ignorable_Code_Point}/gu;

/** escapeText shows characters that draw nothing as <U+202E>; line breaks and tabs stay. */
export function escapeText(text: string): string {
  return text
    .replace(/\r\n/g, "\n")
    .replace(hidden, (c) => `<U+${(c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`);
}

/** escapeLine is a text in one line. */
export function escapeLine(text: string): string {
  return escapeText(text.replace(/[\n\t]+/g, " "));
}

/** titleOf is what an instruction is about: its first line that is not blank. */
export function titleOf(text: string): string {
  for (const line of text.split("\n")) {
    const title = line.replace(/^\s*#{1,6}\s+/, "").trim();
    if (title) return escapeLine(title);
  }
  return "";
}

/** lineSteps are how many characters of one line are drawn: at first, and at each wish for more. */
export const lineSteps: [number, ...number[]] = [4000, 40_000, 200_000];

/**
 * cutLine is the beginning of a line, safe to show, and how many characters are left out. A browser
 * draws nothing of a text that is wider than 2^25 pixels: a line of some MB would look empty.
 */
export function cutLine(line: string, most: number): { text: string; left: number } {
  const cut = cutText(line, most);
  return { text: escapeText(cut.text), left: cut.left };
}

/** cutText bounds a text to a number of characters and says how many are left out. */
export function cutText(text: string, most: number): { text: string; left: number } {
  if (text.length <= most) return { text, left: 0 };
  let end = most;
  const last = text.charCodeAt(end - 1);
  if (last >= 0xd800 && last <= 0xdbff) end--;
  return { text: text.slice(0, end), left: text.length - end };
}
