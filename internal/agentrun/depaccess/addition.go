package depaccess

import (
	"context"
	"errors"
	"fmt"

	"company/internal/company"
	"company/internal/ecosystem/depproxy"
	"company/internal/lib/retry"
)

// Answer is the reply of add_dependency to the agent.
type Answer struct {
	Text    string
	Refused bool
	Prepare string // a command to run inside before the agent continues; may be empty
}

// Add allows a package to be fetched, if it is permitted. An error is internal and ends the run.
func (r *Run) Add(ctx context.Context, dependency company.Dependency) (Answer, error) {
	no := func(format string, args ...any) (Answer, error) {
		return Answer{Text: "Not added: " + fmt.Sprintf(format, args...), Refused: true}, nil
	}
	if !r.IsEnabled() {
		return no("this office fetches no dependencies (container.deps: off). Do it without, or escalate and say what is " +
			"needed.")
	}
	if err := depproxy.CheckName(dependency); err != nil {
		return no("%s", errorText(err))
	}
	if err := r.store.Upstreams().WhyWithheld(dependency); err != nil {
		return no("%s", errorText(err))
	}
	if !r.store.Upstreams().Serves(dependency.Ecosystem) {
		return no("this office has no registry for %s.", dependency.Ecosystem)
	}
	if r.order.Task.Settings.Deps == company.Ask {
		answer, err := r.askPresident(ctx, dependency)
		if err != nil || answer.Text != "" {
			return answer, err
		}
	}
	// A name is recorded in the ledger before it leaves this host. It counts there, whatever the registry answers.
	_, err := r.office.Coordinator.Decide(
		ctx, company.LookUpDependency{Run: r.order.Run, Fence: r.order.Fence, Dependency: dependency})
	switch company.CodeOf(err) {
	case "":
	case company.EConflict, company.EInvalid, company.EWaiting:
		return no("%s", errorText(err))
	default:
		return Answer{}, err
	}
	exact, err := r.store.Resolve(ctx, dependency)
	if err != nil {
		if ctx.Err() != nil {
			return Answer{}, context.Cause(ctx)
		}
		return no("%s", errorText(err))
	}
	_, err = r.office.Coordinator.Decide(
		ctx, company.AddDependency{Run: r.order.Run, Fence: r.order.Fence, Wanted: dependency, Version: exact.Version})
	switch company.CodeOf(err) {
	case "":
	case company.EConflict, company.EInvalid, company.EWaiting:
		return no("%s", errorText(err))
	default:
		return Answer{}, err
	}
	r.policy.AllowWithNeeds(exact)
	r.mu.Lock()
	r.added[dependency.Ecosystem] = true
	r.mu.Unlock()
	r.logLine("added "+exact.String(), false)
	return Answer{
		Text: fmt.Sprintf("%s may be fetched now, and what the registry says that it needs. Run: %s\nCommit the manifest "+
			"and the lock file with the work: the gates get an image with what the lock file names.",
			exact, depproxy.AddCommand(exact)),
		Prepare: depproxy.SetupCommand(r.order.Base, dependency.Ecosystem),
	}, nil
}

// askPresident asks the president and waits for the answer. An empty Answer means approval.
func (r *Run) askPresident(ctx context.Context, dependency company.Dependency) (Answer, error) {
	_, err := r.office.Coordinator.Decide(
		ctx, company.AskDependency{Run: r.order.Run, Fence: r.order.Fence, Dependency: dependency})
	switch company.CodeOf(err) {
	case "":
	case company.EConflict, company.EInvalid:
		return Answer{Text: "Not added: " + errorText(err), Refused: true}, nil
	default:
		return Answer{}, err
	}
	var approval *company.Approval
	wait := func() { approval, err = r.awaitAnswer(ctx, dependency) }
	if r.order.Waits != nil {
		r.order.Waits(wait)
	} else {
		wait()
	}
	switch {
	case err != nil:
		return Answer{}, err
	case approval.Open():
		return Answer{Refused: true,
				Text: fmt.Sprintf("Not added: the president has not answered yet (question %s). Go on with what can be done "+
					"without %s and call add_dependency again later; if nothing can, escalate and say so.", approval.ID, dependency)},
			nil
	case approval.Option != company.OptApprove:
		text := "Not added: the president refuses " + dependency.String() + "."
		if approval.Text != "" {
			text += " The president says: " + approval.Text
		}
		return Answer{Text: text + " Do it without.", Refused: true}, nil
	}
	return Answer{}, nil
}

// awaitAnswer waits until a question is answered, the wait times out, or the run is paused.
func (r *Run) awaitAnswer(ctx context.Context, dependency company.Dependency) (*company.Approval, error) {
	limit := r.office.AnswerTimeout
	if limit <= 0 {
		limit = answerTimeout
	}
	var approval *company.Approval
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := retry.Until(limited, retry.Every(lookEvery), func() (bool, error) {
		now, err := r.office.Coordinator.Standing(ctx, r.order.Run, r.order.Fence)
		if err != nil {
			return false, err
		}
		if approval = now.Question(dependency); approval == nil {
			return false, company.E(company.EInternal, "the asked question is missing")
		}
		// A pause waits for the end of the turn, so the turn must not wait.
		return !approval.Open() || now.Paused, nil
	})
	switch {
	case approval == nil:
		return nil, err
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return approval, nil
}

// errorText formats an error for an agent.
func errorText(err error) string {
	text := err.Error()
	var fault *company.Error
	if errors.As(err, &fault) && fault.Hint != "" {
		text += ". " + fault.Hint
	}
	return text + "."
}
