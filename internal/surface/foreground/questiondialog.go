package foreground

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"company/internal/api/client"
	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/view"
	"company/internal/surface/terminalio"
)

// questionDialog is a dialog with the person at the terminal about one open question.
type questionDialog struct {
	follower *follower
	conn     *client.Office
	question view.Approval
}

// askQuestion asks the person at the terminal until the question is answered, there or elsewhere,
// or deferred.
func (f *follower) askQuestion(ctx context.Context, conn *client.Office, approval view.Approval) error {
	dialog := questionDialog{follower: f, conn: conn, question: approval}
	for !f.deferred[approval.ID] {
		fmt.Fprintf(f.console.Err, "\n%s", approval.RenderPrompt(f.console.Style(f.console.Err)))
		typed, err := dialog.read(ctx, string(approval.ID)+"> ")
		if err != nil {
			return dialog.endDialog(err)
		}
		cmd, err := dialog.parseAnswer(ctx, typed)
		if err != nil {
			return dialog.endDialog(err)
		}
		if cmd.Option == "" {
			continue
		}
		err = dialog.sendAnswer(ctx, cmd)
		if company.CodeOf(err) != company.EInvalid {
			return err
		}
		dialog.reportFailure(err) // such as an amount that does not raise this limit
	}
	return nil
}

var (
	errAnsweredElsewhere = errors.New("attend: the question was answered elsewhere")
	errTerminalGone      = errors.New("attend: the terminal is gone")
)

// endDialog handles an error that ended the dialog. It returns errors other than an answer from
// elsewhere or a closed terminal.
func (d questionDialog) endDialog(err error) error {
	switch {
	case errors.Is(err, errAnsweredElsewhere):
		d.printLine("%s was answered elsewhere", d.question.ID)
		return nil
	case errors.Is(err, errTerminalGone):
		d.deferQuestion()
		d.follower.console.NoInput = true // the next question would get no answer either
		return nil
	}
	return err
}

// printLine prints a line of the dialog, also with --quiet.
func (d questionDialog) printLine(format string, args ...any) {
	fmt.Fprintln(d.follower.console.Err, safetext.Escape(fmt.Sprintf(format, args...)))
}

// deferQuestion leaves the question for a later command.
func (d questionDialog) deferQuestion() {
	if d.follower.deferred == nil {
		d.follower.deferred = map[company.ApprovalID]bool{}
	}
	d.follower.deferred[d.question.ID] = true
	d.printLine("%s waits: %s", d.question.ID, d.question.Next)
}

// parseAnswer parses typed text as an answer, or runs it as a command of the dialog.
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

// answerWords uses a typed sentence for the option that takes text, after the person confirms.
func (d questionDialog) answerWords(ctx context.Context, typed string) (company.Answer, error) {
	key, option, ok := d.question.WordsGoWith()
	if !ok || !strings.Contains(typed, " ") {
		d.printLine("answer y or n, not %q", safetext.EscapeLine(typed, 60))
		return company.Answer{}, nil
	}
	word, err := d.read(ctx, fmt.Sprintf("%s with these words (%s)? [y/n]> ", key, option.Means))
	if err != nil || !terminalio.IsYes(word) {
		return company.Answer{}, err
	}
	return company.Answer{Approval: d.question.ID, By: "terminal", Option: option.Name, Text: typed}, nil
}

// answerOption returns the answer for an option with the text typed after its key. If the answer
// ends the task, the person must confirm.
func (d questionDialog) answerOption(
	ctx context.Context, option company.Option, key, rest string,
) (company.Answer, error) {
	cmd := company.Answer{Approval: d.question.ID, By: "terminal", Option: option.Name, Text: rest}
	switch {
	case option.Input == company.InputNeedsWords && rest == "":
		d.printLine("%s needs a text: %s and your text", d.question.ID, key)
		return company.Answer{}, nil
	case option.Input == company.InputAmount && rest != "":
		by, err := view.ParseAmount(rest)
		if err != nil {
			d.printLine("invalid amount %q: y 5usd, y 100ktokens, or y alone", safetext.EscapeLine(rest, 60))
			return company.Answer{}, nil
		}
		cmd.Raise, cmd.Text = by, ""
	case option.Name == company.OptApprove && !option.AcceptsWords() && rest != "":
		// A plain yes would drop the text typed after it.
		hint := ""
		if other, _, ok := d.question.WordsGoWith(); ok {
			hint = "; " + other + " with words passes them on"
		}
		d.printLine("the text after this y would reach no one%s", hint)
		return company.Answer{}, nil
	}
	if !option.Confirm {
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
	if option.AcceptsWords() && rest == "" {
		instead = "; " + key + " with words does not"
	}
	word, err := d.read(ctx, fmt.Sprintf("this %s ends all of %s%s. End it? [y/N] ", key, all, instead))
	if err != nil || !terminalio.IsYes(word) {
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

// subjectID returns the id of the question's subject: its subtask or its task.
func (d questionDialog) subjectID() string { return view.SubjectOf(d.question) }

// showSubject prints the subject of the question.
func (d questionDialog) showSubject(ctx context.Context) {
	shown, err := d.conn.Shown(ctx, d.subjectID())
	shown = shown.In(d.follower.paths.Runs)
	if err == nil {
		fmt.Fprintf(d.follower.console.Err, "\n%s", shown.Render(d.follower.console.Style(d.follower.console.Err)))
	}
	d.reportFailure(err)
}

// showDiff prints the changes that the question is about.
func (d questionDialog) showDiff(ctx context.Context) {
	sp, err := d.conn.Range(ctx, d.subjectID())
	if err == nil {
		var patch officeapp.Patch
		if patch, err = officeapp.ReadPatch(ctx, d.follower.paths, sp, officeapp.MaxPatch); err == nil &&
			d.follower.console.PrintPatch(d.follower.console.Err, patch.Text) == nil {
			d.follower.console.PrintNotes(patch.Notes(sp))
		}
	}
	d.reportFailure(err)
}

// reportFailure prints an error, if any. The question stays open.
func (d questionDialog) reportFailure(err error) {
	if err != nil {
		d.follower.console.ShowError(err)
	}
}

// read prompts and waits for a line that is not empty, or for an answer from elsewhere. Meanwhile it shows what
// happens.
func (d questionDialog) read(ctx context.Context, prompt string) (string, error) {
	con := d.follower.console
	keys := con.FreshKeyboard()
	fmt.Fprint(con.Err, prompt)
	look := time.NewTicker(pollEvery)
	defer look.Stop()
	for {
		input := keys.ReadLine(ctx.Done(), look.C, d.follower.items)
		switch {
		case ctx.Err() != nil:
			fmt.Fprintln(con.Err)
			return "", context.Cause(ctx)
		case input.Typed && errors.Is(input.Err, io.EOF) && input.Text != "":
			return input.Text, nil
		case input.Typed && input.Err != nil:
			fmt.Fprintln(con.Err)
			return "", errTerminalGone
		case input.Typed && input.Text != "":
			return input.Text, nil
		case input.Typed:
			fmt.Fprint(con.Err, prompt)
			continue
		case input.Item != nil:
			d.follower.noteSeq(*input.Item)
			if d.follower.isShown(*input.Item) {
				con.PrintAbovePrompt(*input.Item, prompt)
			}
			if input.Item.Kind != (&company.ApprovalAnswered{}).Kind() {
				continue // look.C finds what else may end the question
			}
		}
		approval, err := d.conn.Approval(ctx, d.question.ID)
		if err != nil {
			return "", err
		}
		if approval.Next == "" { // it is no longer open
			fmt.Fprintln(con.Err)
			return "", errAnsweredElsewhere
		}
	}
}
