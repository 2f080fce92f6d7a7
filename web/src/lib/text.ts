// Text of models, strangers and repositories. React makes text nodes of it, so no markup
// runs; control and direction characters are shown as what they are, so that they hide
// nothing and turn nothing round.

const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;

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

/** cutText bounds a text to a number of characters and says how many are left out. */
export function cutText(text: string, most: number): { text: string; left: number } {
  if (text.length <= most) return { text, left: 0 };
  let end = most;
  const last = text.charCodeAt(end - 1);
  if (last >= 0xd800 && last <= 0xdbff) end--;
  return { text: text.slice(0, end), left: text.length - end };
}
