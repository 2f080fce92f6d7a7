import { useState } from "react";
import { optionName, sendAnswer, subjectOf, takesWords } from "../lib/actions.ts";
import type { QuestionGroup } from "../lib/several.ts";
import { escapeLine } from "../lib/text.ts";
import type { Option } from "../types.ts";
import { useDraft } from "./hooks.ts";
import { Panel } from "./parts.tsx";
import { Portion } from "./portion.tsx";

/** SeveralAnswers gives one answer to the chosen questions of a kind. An answer that ends a task is confirmed for each. */
export function SeveralAnswers({ group, name }: { group: QuestionGroup; name: string }) {
  const [chosen, setChosen] = useState(new Set<string>());
  const [text, setText] = useDraft("several:" + group.key);
  const [busy, setBusy] = useState(false);
  const picked = group.questions.filter((q) => chosen.has(q.id));
  const choose = (id: string, on: boolean) =>
    setChosen((before) => {
      const next = new Set(before);
      if (on) next.add(id);
      else next.delete(id);
      return next;
    });
  const answer = async (o: Option) => {
    setBusy(true);
    let left = picked.length;
    for (const q of picked) {
      if (!(await sendAnswer(q, { option: o.name, text: takesWords(o) ? text.trim() : "" }))) break; // the others wait, as they were
      choose(q.id, false);
      left--;
    }
    if (left === 0) setText("");
    setBusy(false);
  };
  return (
    <Panel title={`Answer several at once: ${name}`} id={"several-" + group.kind}>
      <div className="stack">
        <fieldset className="stack tight plain-set" disabled={busy}>
          <legend className="hidden-text">Questions</legend>
          <Portion items={group.questions} most={50} what={group.kind}>
            {(shown) => (
              <>
                <label className="check">
                  <input type="checkbox" checked={shown.every((q) => chosen.has(q.id))} onChange={(e) => setChosen(new Set(e.target.checked ? shown.map((q) => q.id) : []))} data-testid={"all-" + group.kind} /> all {shown.length}
                  {shown.length < group.questions.length ? " that are shown" : ""}
                </label>
                {shown.map((q) => (
                  <label key={q.id} className="check">
                    <input type="checkbox" checked={chosen.has(q.id)} onChange={(e) => choose(q.id, e.target.checked)} data-testid={"pick-" + q.id} />
                    <span className="mono num">
                      {q.id} {subjectOf(q)}
                    </span>
                    <span className="cut">{escapeLine(q.question)}</span>
                  </label>
                ))}
              </>
            )}
          </Portion>
        </fieldset>
        {group.options.some(takesWords) ? (
          <label className="field">
            Your words to each
            <textarea value={text} onChange={(e) => setText(e.target.value)} />
          </label>
        ) : null}
        <div className="row">
          {group.options.map((o) => (
            <button key={o.name} disabled={busy || picked.length === 0 || (o.input === "needs_words" && text.trim() === "")} onClick={() => void answer(o)} data-row data-testid={`${o.name}-several-${group.kind}`}>
              {optionName(o)} to {picked.length}
            </button>
          ))}
        </div>
      </div>
    </Panel>
  );
}
