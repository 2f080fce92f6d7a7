package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/safetext"
)

// dialogue is one open question on its way to the person at the terminal and
// back.
type dialogue struct {
	f   *follower
	acc access
	q   *company.Approval
}

// ask puts an open question to the person at the terminal until it is answered,
// there or elsewhere, or put off.
func (f *follower) ask(ctx context.Context, acc access, q *company.Approval) error {
	d := dialogue{f: f, acc: acc, q: q}
	for !f.later[q.ID] {
		f.a.note("\n%s", d.text())
		typed, err := d.read(ctx, string(q.ID)+"> ")
		if err != nil {
			return d.over(err)
		}
		cmd, err := d.understand(ctx, typed)
		if err != nil {
			return d.over(err)
		}
		if cmd.Option == "" {
			continue
		}
		err = d.send(ctx, cmd)
		if company.CodeOf(err) != company.EInvalid {
			return err
		}
		d.shown(err) // such as an amount that does not raise this cap
	}
	return nil
}

var (
	errElsewhere = errors.New("cli: the question was answered elsewhere")
	errGone      = errors.New("cli: nobody is at the terminal any more")
)

// over ends the question for a reason that is none of the person's. What is an
// error beyond it comes back.
func (d dialogue) over(err error) error {
	switch {
	case errors.Is(err, errElsewhere):
		d.say("%s was answered elsewhere", d.q.ID)
		return nil
	case errors.Is(err, errGone):
		d.putOff()
		d.f.a.noInput = true // nor will anybody answer the next
		return nil
	}
	return err
}

// say is part of a dialogue: not even --quiet is without it.
func (d dialogue) say(format string, args ...any) {
	fmt.Fprintln(d.f.a.err, safetext.Escape(fmt.Sprintf(format, args...)))
}

// putOff leaves the question to a later command.
func (d dialogue) putOff() {
	if d.f.later == nil {
		d.f.later = map[company.ApprovalID]bool{}
	}
	d.f.later[d.q.ID] = true
	d.say("%s waits: %s", d.q.ID, answerWith(d.q))
}

// text is the question and what may be typed.
func (d dialogue) text() string {
	var b strings.Builder
	about := subject(viewApproval(d.q))
	if strings.HasPrefix(d.q.Question, about) {
		about = ""
	} else {
		about += "  "
	}
	fmt.Fprintf(&b, "! %s  %s\n", d.q.ID, wrapped(about+safetext.Escape(d.q.Question), columns(d.f.a.err)-6, "      "))
	opts := d.q.Options()
	if d.q.Kind == company.AskClarification {
		b.WriteString("  your words are the answer\n")
	} else {
		fmt.Fprintf(&b, "  %-10s  %s\n  %-10s  %s\n", "y"+d.takes(company.OptApprove), opts[company.OptApprove], "n"+d.takes(company.OptReject), opts[company.OptReject])
	}
	b.WriteString("  s  show")
	if d.diffable() {
		b.WriteString("    d  diff")
	}
	fmt.Fprintf(&b, "    l  later (%s)", answerWith(d.q))
	return b.String()
}

// takes is what may follow a yes or a no.
func (d dialogue) takes(option string) string {
	switch {
	case d.q.Kind == company.AskBudget && option == company.OptApprove:
		return " [amount]"
	case d.heeds(option):
		return " [words]"
	}
	return ""
}

// heeds says whether words beside an option reach anybody.
func (d dialogue) heeds(option string) bool {
	return strings.Contains(d.q.Options()[option], "your words")
}

func (d dialogue) diffable() bool {
	switch d.q.Kind {
	case company.AskMerge, company.AskProtected, company.AskBlocked, company.AskReview, company.AskGates, company.AskPR, company.AskHeld:
		return true
	}
	return false
}

// understand takes what was typed: an answer, or, without an option in it,
// something else that is done here.
func (d dialogue) understand(ctx context.Context, typed string) (company.Answer, error) {
	cmd := company.Answer{Approval: d.q.ID, By: "terminal"}
	word, rest, _ := strings.Cut(typed, " ")
	word, rest = strings.ToLower(strings.TrimRight(word, ",.;:!")), strings.TrimSpace(rest)
	alone := rest == ""
	switch {
	case alone && (word == "l" || word == "later"):
		d.putOff()
	case alone && (word == "s" || word == "show"):
		return cmd, d.show(ctx)
	case alone && d.diffable() && (word == "d" || word == "diff"):
		return cmd, d.diff(ctx)
	case alone && (word == "?" || word == "h" || word == "help"):
	case d.q.Kind == company.AskClarification:
		cmd.Option, cmd.Text = company.OptAnswer, typed
	case word == "y" || word == "yes":
		return d.yes(rest)
	case word == "n" || word == "no":
		return d.no(ctx, rest)
	default:
		d.say("%q says neither y nor n", safetext.EscapeLine(typed, 60))
	}
	return cmd, nil
}

func (d dialogue) yes(rest string) (company.Answer, error) {
	cmd := company.Answer{Approval: d.q.ID, By: "terminal", Option: company.OptApprove, Text: rest}
	switch {
	case rest == "" || d.heeds(company.OptApprove):
		return cmd, nil
	case d.q.Kind == company.AskBudget:
		by, err := parseAmount(rest)
		if err != nil {
			d.say("%q is no amount: y 5usd, y 100ktokens, or y alone", safetext.EscapeLine(rest, 60))
			return company.Answer{}, nil
		}
		cmd.Raise, cmd.Text = by, ""
		return cmd, nil
	}
	// A yes with a wish would be taken for a yes, and the wish for nothing.
	hint := ""
	if d.heeds(company.OptReject) {
		hint = "; n with words hands them on"
	}
	d.say("nobody would read words beside this y%s", hint)
	return company.Answer{}, nil
}

// no is the answer, unless it would end the task and the person thinks better
// of it.
func (d dialogue) no(ctx context.Context, rest string) (company.Answer, error) {
	cmd := company.Answer{Approval: d.q.ID, By: "terminal", Option: company.OptReject, Text: rest}
	s, err := d.acc.State(ctx)
	if err != nil {
		return company.Answer{}, err
	}
	if !endsTask(s, cmd) {
		return cmd, nil
	}
	instead := ""
	if d.q.Kind == company.AskPlan {
		instead = "; n with words does not"
	}
	word, err := d.read(ctx, fmt.Sprintf("this n ends all of %s%s. End it? [y/N] ", mergedSoFar(s, d.q.Task), instead))
	if err != nil {
		return company.Answer{}, err
	}
	if word = strings.ToLower(word); word == "y" || word == "yes" {
		return cmd, nil
	}
	return company.Answer{}, nil
}

// endsTask says whether an answer would end its task, as the core decides it.
func endsTask(s *company.State, cmd company.Answer) bool {
	evs, err := company.Decide(s, company.Meta{ID: "trial", Actor: company.President, Now: s.Time}, cmd)
	if err != nil {
		return false
	}
	for _, e := range evs {
		switch e.Kind {
		case (*company.TaskCancelledEvent)(nil).Kind(), (*company.TaskFailedEvent)(nil).Kind():
			return true
		}
	}
	return false
}

func (d dialogue) send(ctx context.Context, cmd company.Answer) error {
	_, err := d.acc.Do(ctx, "", cmd)
	if company.CodeOf(err) == company.EConflict {
		d.say("%s was answered elsewhere", d.q.ID)
		return nil
	}
	return err
}

// subject is what the question is about: its subtask, or the whole task.
func (d dialogue) subject() string { return subject(viewApproval(d.q)) }

// show prints what is known of what the question is about.
func (d dialogue) show(ctx context.Context) error {
	s, err := d.acc.State(ctx)
	if err != nil {
		return err
	}
	_, v, err := viewOf(s, d.f.paths, d.subject(), d.acc.Now())
	if err == nil {
		fmt.Fprintf(d.f.a.err, "\n%s", v.text())
	}
	d.shown(err)
	return nil
}

// diff prints what was changed.
func (d dialogue) diff(ctx context.Context) error {
	s, err := d.acc.State(ctx)
	if err != nil {
		return err
	}
	t, sp, err := spanOf(s, d.subject())
	if err == nil {
		var patch gitops.Diff
		var dir string
		if patch, dir, err = patchOf(ctx, d.f.paths, t, sp); err == nil {
			d.f.a.printPatch(d.f.a.err, sp, patch, dir)
		}
	}
	d.shown(err)
	return nil
}

// shown says why something could not be shown. The question still stands.
func (d dialogue) shown(err error) {
	if err != nil {
		d.f.a.showError(err)
	}
}

// read prompts and waits for a line that is not empty, or for somebody else's
// answer.
func (d dialogue) read(ctx context.Context, prompt string) (string, error) {
	a := d.f.a
	keys := a.keys()
	fmt.Fprint(a.err, prompt)
	look := time.NewTicker(lookAgain)
	defer look.Stop()
	for {
		text, got, err := keys.line(ctx.Done(), look.C)
		switch {
		case ctx.Err() != nil:
			fmt.Fprintln(a.err)
			return "", context.Cause(ctx)
		case got && errors.Is(err, io.EOF) && text != "":
			return text, nil
		case got && err != nil:
			fmt.Fprintln(a.err)
			return "", errGone
		case got && text != "":
			return text, nil
		case got:
			fmt.Fprint(a.err, prompt)
			continue
		}
		s, err := d.acc.State(ctx)
		if err != nil {
			return "", err
		}
		if q := s.Approvals[d.q.ID]; q == nil || !q.Open() || s.Tasks[q.Task].Status.Ended() {
			fmt.Fprintln(a.err)
			return "", errElsewhere
		}
	}
}
