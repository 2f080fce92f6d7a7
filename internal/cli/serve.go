package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"company/internal/company"
	"company/internal/office"
	"company/internal/orchestrator"
)

func newServe(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "serve", Short: "Keep the office working until you end it",
		Example: "  company serve\n  company serve -o json 2>feed.ndjson\n  company --office ~/office serve",
		Long: `Keeps the office open: every submission, answer and resume of any project goes
to this process, which works on what is unfinished and waits for more. The feed
is on stderr.

An interrupt or SIGTERM puts away what is under way and ends; a second one ends
at once. Either way nothing is lost: the next company goes on with it.`,
		RunE: func(c *cobra.Command, _ []string) error { return a.serve(c.Context()) },
	}
}

// served is what serve says on stdout when it ends.
type served struct {
	SchemaVersion int       `json:"schema_version"`
	Office        string    `json:"office"`
	From          time.Time `json:"from"`
	Until         time.Time `json:"until"`
	Open          int       `json:"open_tasks"` // that the next company goes on with
}

func (a *app) serve(ctx context.Context) (err error) {
	a.worked = true
	paths, _, err := a.ready(ctx)
	if err != nil {
		return err
	}
	h, err := a.takeOver(ctx, paths)
	if err != nil {
		return err
	}
	defer h.leave()
	h.serving = true
	out := served{SchemaVersion: 1, Office: h.office.ID, From: h.Now()}
	seen := h.View().Seq
	stop, err := h.serve(ctx, a)
	if err != nil {
		return err
	}
	a.note("company %s serves the office %s (%s); end it with Ctrl-C", Version, h.office.ID, paths.Root)
	if s := h.View(); s.Office.Stopped {
		a.note("the office is stopped: nothing begins until company resume")
	} else if rest := pausedTasks(s); len(rest) > 0 {
		a.note("paused: %s; go on with: company resume %s", join(rest), rest[0])
	}
	err = h.Follow(ctx, seen+1, func(it orchestrator.Item) error {
		a.tell(it)
		return nil
	})
	if ctx.Err() != nil {
		err = nil // that is how it is to end
		a.note("ending what is under way (once more ends at once)")
	}
	if err := errors.Join(err, stop()); err != nil {
		return err
	}
	out.Until, out.Open = h.Now(), len(h.View().Open)
	if err := a.endServe(out); err != nil {
		return err
	}
	if errors.Is(context.Cause(ctx), errTerminated) {
		return nil // whoever supervises it asked for that
	}
	return &exitCode{code: exitInterrupt}
}

func (a *app) endServe(out served) error {
	if a.output == "json" {
		return a.printJSON(a.out, out)
	}
	left := "nothing is unfinished"
	if out.Open > 0 {
		left = company.Count(out.Open, "unfinished task") + " left: go on with company serve, or company resume"
	}
	_, err := fmt.Fprintf(a.out, "office %s is closed; %s\n", out.Office, left)
	return err
}

// takeOver takes the office. A company that ends with its own task is waited
// for; one that serves is not.
func (a *app) takeOver(ctx context.Context, paths office.Paths) (*house, error) {
	for waits := false; ; {
		h, remote, err := a.open(ctx, paths, takeOverFor)
		if err != nil || h != nil {
			return h, err
		}
		d, ok := remote.(*distant)
		remote.Close()
		if ok && d.hello.Serving {
			return nil, company.E(company.EConflict, "this office is served already").
				Because(fmt.Sprintf("by process %d, company %s", d.hello.PID, d.hello.Version)).
				Fix(fmt.Sprintf("use it as it is, or end it first: kill %d", d.hello.PID))
		}
		if !waits {
			a.note("process %d works in this office until its task ends; waiting for that", d.hello.PID)
			waits = true
		}
		if err := pause(ctx, 250*time.Millisecond, nil); err != nil {
			return nil, err
		}
	}
}
