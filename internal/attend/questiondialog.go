package attend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	officeapp "company/internal/app"
	"company/internal/client"
	"company/internal/company"
	"company/internal/console"
	"company/internal/safetext"
	"company/internal/view"
)

// questionDialog is one open question on its way to the person at the terminal and
// back.
type questionDialog struct {
	follower *follower
	conn     *client.Office
	question view.Approval
}

// askQuestion puts an open question to the person at the terminal until it is answered,
// there or elsewhere, or put off.
func (f *follower) askQuestion(ctx context.Context, conn *client.Office, q view.Approval) error {
	d := questionDialog{follower: f, conn: conn, question: q}
	for !f.deferred[q.ID] {
		fmt.Fprintf(f.console.Err, "\n%s", q.RenderPrompt(f.console.Style(f.console.Err)))
		typed, err := d.read(ctx, string(q.ID)+"> ")
		if err != nil {
			return d.endDialog(err)
		}
		cmd, err := d.parseAnswer(ctx, typed)
		if err != nil {
			return d.endDialog(err)
		}
		if cmd.Option == "" {
			continue
		}
		err = d.sendAnswer(ctx, cmd)
		if company.CodeOf(err) != company.EInvalid {
			return err
		}
		d.reportFailure(err) // such as an amount that does not raise this cap
	}
	return nil
}

var (
	errAnsweredElsewhere = errors.New("attend: the question was answered elsewhere")
	errTerminalGone      = errors.New("attend: nobody is at the terminal any more")
)

// endDialog ends the question for another reason than the person's. It returns
// an error that goes beyond that.
func (d questionDialog) endDialog(err error) error {
	switch {
	case errors.Is(err, errAnsweredElsewhere):
		d.printLine("%s was answered elsewhere", d.question.ID)
		return nil
	case errors.Is(err, errTerminalGone):
		d.deferQuestion()
		d.follower.console.NoInput = true // the next question gets no answer either
		return nil
	}
	return err
}

// printLine is part of a dialogue: not even --quiet is without it.
func (d questionDialog) printLine(format string, args ...any) {
	fmt.Fprintln(d.follower.console.Err, safetext.Escape(fmt.Sprintf(format, args...)))
}

// deferQuestion leaves the question to a later command.
func (d questionDialog) deferQuestion() {
	if d.follower.deferred == nil {
		d.follower.deferred = map[company.ApprovalID]bool{}
	}
	d.follower.deferred[d.question.ID] = true
	d.printLine("%s waits: %s", d.question.ID, d.question.Next)
}

// parseAnswer parses the typed text: an answer, or, without an option in it, a
// command of the dialog.
func (d questionDialog) parseAnswer(ctx context.Context, typed string) (company.Answer, error) {
	cmd := company.Answer{Approval: d.question.ID, By: "terminal"}
	word, rest, _ := strings.Cut(typed, " ")
	word, rest = strings.ToLower(strings.TrimRight(word, ",.;:!")), strings.TrimSpace(rest)
	alone := rest == ""
	switch {
	case alone && (word == "l" || word == "later"):
		d.deferQuestion()
	case alone && (word == "s" || word == "show"):
		d.showSubject(ctx)
		return cmd, nil
	case alone && d.question.HasDiff() && (word == "d" || word == "diff"):
		d.showDiff(ctx)
		return cmd, nil
	case alone && (word == "?" || word == "h" || word == "help"):
	case d.question.AsksForWords():
		cmd.Option, cmd.Text = d.question.Options[0].Name, typed
	default:
		if o, ok := d.question.TypedOption(word); ok {
			return d.answerOption(ctx, o, word, rest)
		}
		return d.answerWords(ctx, typed)
	}
	return cmd, nil
}

// answerWords takes a sentence for the answer that takes text, once the person confirms
// it.
func (d questionDialog) answerWords(ctx context.Context, typed string) (company.Answer, error) {
	key, o, ok := d.question.WordsGoWith()
	if !ok || !strings.Contains(typed, " ") {
		d.printLine("%q says neither y nor n", safetext.EscapeLine(typed, 60))
		return company.Answer{}, nil
	}
	word, err := d.read(ctx, fmt.Sprintf("%s with these words (%s)? [y/n]> ", key, o.Means))
	if err != nil || !console.IsYes(word) {
		return company.Answer{}, err
	}
	return company.Answer{Approval: d.question.ID, By: "terminal", Option: o.Name, Text: typed}, nil
}

// answerOption is the answer by an option and what was typed behind its key, unless it
// would end the task and the person thinks better of it.
func (d questionDialog) answerOption(ctx context.Context, o company.Option, key, rest string) (company.Answer, error) {
	cmd := company.Answer{Approval: d.question.ID, By: "terminal", Option: o.Name, Text: rest}
	switch {
	case o.Input == company.InputNeedsWords && rest == "":
		d.printLine("%s asks for your words: %s and a text", d.question.ID, key)
		return company.Answer{}, nil
	case o.Input == company.InputAmount && rest != "":
		by, err := view.ParseAmount(rest)
		if err != nil {
			d.printLine("%q is no amount: y 5usd, y 100ktokens, or y alone", safetext.EscapeLine(rest, 60))
			return company.Answer{}, nil
		}
		cmd.Raise, cmd.Text = by, ""
	case o.Name == company.OptApprove && !o.AcceptsWords() && rest != "":
		// A yes with a wish would be taken for a yes, and the wish for nothing.
		hint := ""
		if other, _, ok := d.question.WordsGoWith(); ok {
			hint = "; " + other + " with words hands them on"
		}
		d.printLine("your words beside this y would reach no one%s", hint)
		return company.Answer{}, nil
	}
	if !o.Confirm {
		return cmd, nil
	}
	all, err := d.conn.EndedBy(ctx, d.question.Task, cmd)
	if err != nil {
		return company.Answer{}, err
	}
	if all == "" {
		return cmd, nil
	}
	instead := ""
	if o.AcceptsWords() && rest == "" {
		instead = "; " + key + " with words does not"
	}
	word, err := d.read(ctx, fmt.Sprintf("this %s ends all of %s%s. End it? [y/N] ", key, all, instead))
	if err != nil || !console.IsYes(word) {
		return company.Answer{}, err
	}
	return cmd, nil
}

func (d questionDialog) sendAnswer(ctx context.Context, cmd company.Answer) error {
	_, err := d.conn.Do(ctx, "", cmd)
	if company.CodeOf(err) == company.EConflict {
		d.printLine("%s was answered elsewhere", d.question.ID)
		return nil
	}
	return err
}

// subjectID is what the question is about: its subtask, or the whole task.
func (d questionDialog) subjectID() string { return view.SubjectOf(d.question) }

// showSubject prints the object of the question.
func (d questionDialog) showSubject(ctx context.Context) {
	v, err := d.conn.Shown(ctx, d.subjectID())
	v = v.In(d.follower.paths.Runs)
	if err == nil {
		fmt.Fprintf(d.follower.console.Err, "\n%s", v.Render(d.follower.console.Style(d.follower.console.Err)))
	}
	d.reportFailure(err)
}

// showDiff prints the changes.
func (d questionDialog) showDiff(ctx context.Context) {
	sp, err := d.conn.Range(ctx, d.subjectID())
	if err == nil {
		var p officeapp.Patch
		if p, err = officeapp.ReadPatch(ctx, d.follower.paths, sp, officeapp.MaxPatch); err == nil && d.follower.console.PrintPatch(d.follower.console.Err, p.Text) == nil {
			d.follower.console.PrintNotes(p.Notes(sp))
		}
	}
	d.reportFailure(err)
}

// reportFailure says why something could not be shown. The question still stands.
func (d questionDialog) reportFailure(err error) {
	if err != nil {
		d.follower.console.ShowError(err)
	}
}

// read prompts and waits for a line that is not empty, or for an answer from
// elsewhere.
func (d questionDialog) read(ctx context.Context, prompt string) (string, error) {
	con := d.follower.console
	keys := con.FreshKeyboard()
	fmt.Fprint(con.Err, prompt)
	look := time.NewTicker(pollEvery)
	defer look.Stop()
	for {
		text, got, err := keys.ReadLine(ctx.Done(), look.C)
		switch {
		case ctx.Err() != nil:
			fmt.Fprintln(con.Err)
			return "", context.Cause(ctx)
		case got && errors.Is(err, io.EOF) && text != "":
			return text, nil
		case got && err != nil:
			fmt.Fprintln(con.Err)
			return "", errTerminalGone
		case got && text != "":
			return text, nil
		case got:
			fmt.Fprint(con.Err, prompt)
			continue
		}
		q, err := d.conn.Approval(ctx, d.question.ID)
		if err != nil {
			return "", err
		}
		if q.Next == "" { // it waits for nothing any more
			fmt.Fprintln(con.Err)
			return "", errAnsweredElsewhere
		}
	}
}
