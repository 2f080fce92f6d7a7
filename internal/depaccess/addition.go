package depaccess

import (
	"context"
	"errors"
	"fmt"

	"company/internal/company"
	"company/internal/depproxy"
	"company/internal/retry"
)

// Answer is what add_dependency says to the agent.
type Answer struct {
	Text    string
	Refused bool
	Prepare string // has to run inside before the agent goes on; may be empty
}

// Add lets a package be fetched, if it may. The error is one of ours: the run
// cannot go on.
func (r *Run) Add(ctx context.Context, d company.Dependency) (Answer, error) {
	no := func(format string, args ...any) (Answer, error) {
		return Answer{Text: "Not added: " + fmt.Sprintf(format, args...), Refused: true}, nil
	}
	if !r.isEnabled() {
		return no("this office fetches no dependencies (container.deps: off). Do it without, or escalate and say what is needed.")
	}
	if err := depproxy.CheckName(d); err != nil {
		return no("%s", errorText(err))
	}
	if err := r.store.Upstreams().WhyWithheld(d); err != nil {
		return no("%s", errorText(err))
	}
	if !r.store.Upstreams().Serves(d.Ecosystem) {
		return no("this office has no registry for %s.", d.Ecosystem)
	}
	if r.order.Task.Settings.Deps == company.Ask {
		answer, err := r.askPresident(ctx, d)
		if err != nil || answer.Text != "" {
			return answer, err
		}
	}
	// A name is in the ledger before it leaves this host, and is counted there
	// whatever the registry says.
	_, err := r.office.Coordinator.Decide(ctx, company.LookUpDependency{Run: r.order.Run, Fence: r.order.Fence, Dependency: d})
	switch company.CodeOf(err) {
	case "":
	case company.EConflict, company.EInvalid, company.EWaiting:
		return no("%s", errorText(err))
	default:
		return Answer{}, err
	}
	exact, err := r.store.Resolve(ctx, d)
	if err != nil {
		if ctx.Err() != nil {
			return Answer{}, context.Cause(ctx)
		}
		return no("%s", errorText(err))
	}
	_, err = r.office.Coordinator.Decide(ctx, company.AddDependency{Run: r.order.Run, Fence: r.order.Fence, Wanted: d, Version: exact.Version})
	switch company.CodeOf(err) {
	case "":
	case company.EConflict, company.EInvalid, company.EWaiting:
		return no("%s", errorText(err))
	default:
		return Answer{}, err
	}
	r.policy.AllowWithNeeds(exact)
	r.mu.Lock()
	r.added[d.Ecosystem] = true
	r.mu.Unlock()
	r.logLine("added "+exact.String(), false)
	return Answer{
		Text: fmt.Sprintf("%s may be fetched now, and what the registry says that it needs. Run: %s\nCommit the manifest and the lock file with the work: the gates get an image with what the lock file names.",
			exact, depproxy.AddCommand(exact)),
		Prepare: depproxy.SetupCommand(r.order.Base, d.Ecosystem),
	}, nil
}

// askPresident has the president asked and waits for the answer. An empty answer is a
// yes.
func (r *Run) askPresident(ctx context.Context, d company.Dependency) (Answer, error) {
	_, err := r.office.Coordinator.Decide(ctx, company.AskDependency{Run: r.order.Run, Fence: r.order.Fence, Dependency: d})
	switch company.CodeOf(err) {
	case "":
	case company.EConflict, company.EInvalid:
		return Answer{Text: "Not added: " + errorText(err), Refused: true}, nil
	default:
		return Answer{}, err
	}
	var a *company.Approval
	wait := func() { a, err = r.awaitAnswer(ctx, d) }
	if r.order.Waits != nil {
		r.order.Waits(wait)
	} else {
		wait()
	}
	switch {
	case err != nil:
		return Answer{}, err
	case a.Open():
		return Answer{Refused: true, Text: fmt.Sprintf("Not added: the president has not answered yet (question %s). Go on with what can be done without %s and call add_dependency again later; if nothing can, escalate and say so.", a.ID, d)}, nil
	case a.Option != company.OptApprove:
		text := "Not added: the president refuses " + d.String() + "."
		if a.Text != "" {
			text += " The president says: " + a.Text
		}
		return Answer{Text: text + " Do it without.", Refused: true}, nil
	}
	return Answer{}, nil
}

// awaitAnswer waits until a question is answered, or patience ends.
func (r *Run) awaitAnswer(ctx context.Context, d company.Dependency) (*company.Approval, error) {
	limit := r.office.AnswerTimeout
	if limit <= 0 {
		limit = answerTimeout
	}
	var a *company.Approval
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := retry.Until(limited, retry.Every(lookEvery), func() (bool, error) {
		now, err := r.office.Coordinator.Standing(ctx, r.order.Run, r.order.Fence)
		if err != nil {
			return false, err
		}
		if a = now.Question(d); a == nil {
			return false, company.E(company.EInternal, "a question that was asked is not there")
		}
		// A pause waits for the turn, so the turn must not wait.
		return !a.Open() || now.Paused, nil
	})
	switch {
	case a == nil:
		return nil, err
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return a, nil
}

// errorText is an error as an agent reads it.
func errorText(err error) string {
	text := err.Error()
	var e *company.Error
	if errors.As(err, &e) && e.Hint != "" {
		text += ". " + e.Hint
	}
	return text + "."
}
