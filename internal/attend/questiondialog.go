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
	case d.question.Kind == company.AskClarification:
		cmd.Option, cmd.Text = company.OptAnswer, typed
	case word == "y" || word == "yes":
		return d.answerYes(rest)
	case word == "n" || word == "no":
		return d.answerNo(ctx, rest)
	default:
		return d.answerWords(ctx, typed)
	}
	return cmd, nil
}

// answerWords takes a sentence for the answer that takes text, once the person confirms
// it.
func (d questionDialog) answerWords(ctx context.Context, typed string) (company.Answer, error) {
	key, option := d.question.WordsGoWith()
	if key == "" || !strings.Contains(typed, " ") {
		d.printLine("%q says neither y nor n", safetext.EscapeLine(typed, 60))
		return company.Answer{}, nil
	}
	word, err := d.read(ctx, fmt.Sprintf("%s with these words (%s)? [y/n]> ", key, d.question.Options[option]))
	if err != nil || !console.IsYes(word) {
		return company.Answer{}, err
	}
	return company.Answer{Approval: d.question.ID, By: "terminal", Option: option, Text: typed}, nil
}

func (d questionDialog) answerYes(rest string) (company.Answer, error) {
	cmd := company.Answer{Approval: d.question.ID, By: "terminal", Option: company.OptApprove, Text: rest}
	switch {
	case rest == "" || d.question.AcceptsWords(company.OptApprove):
		return cmd, nil
	case d.question.Kind.AsksAmount():
		by, err := view.ParseAmount(rest)
		if err != nil {
			d.printLine("%q is no amount: y 5usd, y 100ktokens, or y alone", safetext.EscapeLine(rest, 60))
			return company.Answer{}, nil
		}
		cmd.Raise, cmd.Text = by, ""
		return cmd, nil
	}
	// A yes with a wish would be taken for a yes, and the wish for nothing.
	hint := ""
	if d.question.AcceptsWords(company.OptReject) {
		hint = "; n with words hands them on"
	}
	d.printLine("your words beside this y would reach no one%s", hint)
	return company.Answer{}, nil
}

// answerNo is the answer, unless it would end the task and the person thinks better
// of it.
func (d questionDialog) answerNo(ctx context.Context, rest string) (company.Answer, error) {
	cmd := company.Answer{Approval: d.question.ID, By: "terminal", Option: company.OptReject, Text: rest}
	all, err := d.conn.EndedBy(ctx, d.question.Task, cmd)
	if err != nil {
		return company.Answer{}, err
	}
	if all == "" {
		return cmd, nil
	}
	instead := ""
	if d.question.Kind == company.AskPlan {
		instead = "; n with words does not"
	}
	word, err := d.read(ctx, fmt.Sprintf("this n ends all of %s%s. End it? [y/N] ", all, instead))
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
