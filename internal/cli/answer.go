package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"company/internal/company"
	"company/internal/safetext"
	"company/internal/view"
)

func newAnswer(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "answer <question> <text>", Short: "Answer a question in your words",
		Example: `  company answer a1 "limit by API key, not by address"`,
		Args:    cobra.ExactArgs(2), ValidArgsFunction: a.completeIDs(openIDs),
		RunE: func(c *cobra.Command, args []string) error {
			return a.runAnswer(c.Context(), args[0], company.Answer{Option: company.OptAnswer, Text: args[1]})
		},
	}
}

func newApprove(a *app) *cobra.Command {
	var add string
	c := &cobra.Command{
		Use: "approve <question|task> [text]", Short: "Say yes to a question",
		Example: `  company approve a7
  company approve t12
  company approve a9 --add 5usd`,
		Long: "Says yes to a question, or to the one question of a task that is open. Words\nof yours reach whoever asked.",
		Args: cobra.RangeArgs(1, 2), ValidArgsFunction: a.completeIDs(openIDs),
		RunE: func(c *cobra.Command, args []string) error {
			ans := company.Answer{Option: company.OptApprove, Text: strings.Join(args[1:], " ")}
			if add != "" {
				var err error
				if ans.Raise, err = parseAmount(add); err != nil {
					return err
				}
			}
			return a.runAnswer(c.Context(), args[0], ans)
		},
	}
	c.Flags().StringVar(&add, "add", "", "of a budget: how much the cap grows (default: by itself), such as 5usd or 100ktokens")
	return c
}

func newReject(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "reject <question|task> [text]", Short: "Say no to a question",
		Example: `  company reject a7 "split it by package"
  company reject t12`,
		Long: "Says no to a question, or to the one question of a task that is open. With\nwords of yours the work is done anew where that is possible. At a terminal it\nasks once more before it ends a task.",
		Args: cobra.RangeArgs(1, 2), ValidArgsFunction: a.completeIDs(openIDs),
		RunE: func(c *cobra.Command, args []string) error {
			return a.runAnswer(c.Context(), args[0], company.Answer{Option: company.OptReject, Text: strings.Join(args[1:], " ")})
		},
	}
}

func (a *app) runAnswer(ctx context.Context, id string, ans company.Answer) error {
	if err := a.confirmReject(ctx, id, ans); err != nil {
		return err
	}
	s, acc, err := a.readState(ctx)
	if err != nil {
		return err
	}
	defer acc.Close()
	q, err := findQuestion(s, id)
	if err != nil {
		return err
	}
	if ans.Raise != (company.Amount{}) && q.Kind != company.AskBudget {
		return company.E(company.EUsage, "--add is for a question about the budget").Because(fmt.Sprintf("%s is about: %s", q.ID, q.Kind)).Fix("company approve " + string(q.ID))
	}
	ans.Approval, ans.By = q.ID, "command"
	if _, err := acc.Do(ctx, "", ans); err != nil {
		return err
	}
	if s, err = acc.State(ctx); err != nil {
		return err
	}
	q = s.Approvals[q.ID]
	text := fmt.Sprintf("%s: %s", q.ID, q.Option)
	if t := s.Tasks[q.Task]; t.Status.Ended() {
		text += fmt.Sprintf("; %s is %s", t.ID, t.Status)
	}
	return a.printOutcome(acc, s, q.Task, map[string]any{"question": view.NewApproval(q)}, text)
}

// confirmReject asks the person at a terminal once more before an answer ends a task. It
// holds nothing while it waits: others may need the office.
func (a *app) confirmReject(ctx context.Context, id string, ans company.Answer) error {
	if ans.Option != company.OptReject || a.yes || !a.canPrompt() {
		return nil
	}
	s, acc, err := a.readState(ctx)
	if err != nil {
		return err
	}
	acc.Close()
	q, err := findQuestion(s, id)
	if err != nil {
		return err
	}
	if ans.Approval = q.ID; !endsTask(s, ans) {
		return nil
	}
	word, err := a.promptLine(ctx, "this ends all of "+describeProgress(s, q.Task)+". End it? [y/N] ")
	if err != nil {
		return err
	}
	if word = strings.ToLower(word); word != "y" && word != "yes" {
		return company.E(company.EWaiting, string(q.ID)+" is not answered").Fix("company show " + string(q.ID) + " says what there is to answer")
	}
	return nil
}

// describeProgress names a task and how far it has come, before it is ended.
func describeProgress(s *company.State, id company.TaskID) string {
	v := view.Source{State: s, Now: s.Time}.Task(s.Tasks[id])
	return fmt.Sprintf("%s (%d of %s merged)", id, v.Merged, company.Count(v.Subtasks, "subtask"))
}

// findQuestion is the one that an id names: itself, or the only open one of a
// task.
func findQuestion(s *company.State, id string) (*company.Approval, error) {
	th, err := view.FindTarget(s, id)
	if err != nil {
		return nil, err
	}
	if th.Approval != nil {
		return th.Approval, nil
	}
	if th.Run != nil || th.Subtask != nil {
		return nil, company.E(company.EUsage, id+" is neither a question nor a task").Fix("company status lists what waits for you")
	}
	open := s.OpenApprovals(th.Task.ID)
	switch len(open) {
	case 0:
		return nil, company.E(company.ENotFound, id+" has no open question").Fix("company status lists what waits for you")
	case 1:
		return open[0], nil
	}
	var list []string
	for _, q := range open {
		list = append(list, fmt.Sprintf("%s: %s", q.ID, safetext.EscapeLine(q.Question, 100)))
	}
	return nil, company.E(company.EConflict, fmt.Sprintf("%s has %d open questions", id, len(open))).
		Because(strings.Join(list, "\n        ")).Fix("name one: company approve " + string(open[0].ID))
}

// printOutcome says what a command did to a task, and whether the work goes on by
// itself: it does where a company is at work.
func (a *app) printOutcome(acc officeClient, s *company.State, id company.TaskID, v map[string]any, text string) error {
	_, works := acc.(*remoteClient)
	t := s.Tasks[id]
	if a.output == "json" {
		v["schema_version"], v["at_work"] = 1, works
		if t != nil {
			v["task"], v["status"] = t.ID, s.Shown(t)
		}
		return a.printJSON(a.out, v)
	}
	fmt.Fprintln(a.out, text)
	switch {
	case t == nil || t.Status.Ended():
	case works && !t.Paused:
		a.printNote("the company that is open goes on")
	default:
		a.printNote("go on with: company resume %s", id)
	}
	return nil
}
