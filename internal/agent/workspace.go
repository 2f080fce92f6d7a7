package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/safetext"
)

// Workspace saves and restores the place that tools change, so that a run survives an interruption. After a
// result with Changed, the state is saved and journaled. The next holder of the run restores the newest saved
// state and repeats all later calls on it.
type Workspace interface {
	// Save saves the current state. It returns nil if this state cannot be restored (a half-done rebase, a full
	// disk inside). Then the calls since the last saved state are repeated after an interruption. A *NotKept error
	// is a failure of the host. Any other error means that the workspace is lost. ctx may outlive the run's context
	// by saveGrace. Tools that only read may run meanwhile.
	Save(ctx context.Context, turn int) (*Saved, error)
	// Recall tells the tools which file contents the agent knows: path to digest.
	Recall(ctx context.Context, known map[string]string) error
}

// Saved is a state that a workspace can be restored to.
type Saved struct {
	// Checkpoint is the commit that holds the state. Empty means the commit that the run began with.
	Checkpoint company.OID `json:"checkpoint,omitempty"`
	// Pushed holds the commits of the run's branches, by full name.
	Pushed map[string]company.OID `json:"pushed,omitempty"`
}

// Seen identifies the content of a file that the agent knows after a call.
type Seen struct {
	Path   string `json:"path"`
	Digest string `json:"digest"`
}

// Shown is the answer of a tool that the first message contains without a call of the agent.
type Shown struct {
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"` // arguments of the call with this answer, as JSON
	Text      string `json:"text"`
}

// NotKept reports that a result could not be recorded because of the host: a full disk, an unreachable bus. The
// run is not over. Its next holder continues at the end of the journal.
type NotKept struct{ Err error }

func (e *NotKept) Error() string { return e.Err.Error() }
func (e *NotKept) Unwrap() error { return e.Err }

// saveGrace is the time that a save may take after the run was interrupted. An unsaved call is repeated later.
const saveGrace = 5 * time.Second

// withGrace returns a context that ends grace after ctx does.
func withGrace(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(grace, func() { cancel(context.Cause(ctx)) })
		context.AfterFunc(own, func() { timer.Stop() })
	})
	return own, func() { stop(); cancel(nil) }
}

// saveWorkspace saves the state after changing calls. If the run was interrupted, it returns the interruption as
// the error.
func (r *runner) saveWorkspace(ctx context.Context, turn int) (*Saved, error) {
	if r.cfg.Workspace == nil {
		return nil, nil
	}
	own, cancel := withGrace(ctx, saveGrace)
	defer cancel()
	saved, err := r.cfg.Workspace.Save(own, turn)
	if err != nil {
		if stop := contextCause(ctx); stop != nil {
			return nil, stop
		}
		return nil, fmt.Errorf("keep the state after turn %d: %w", turn, err)
	}
	return saved, nil
}

// again is a journaled call that is not part of the restored state.
type again struct {
	pendingCall
	at      time.Time // time of its reply
	text    string    // the result as shown to the model
	changed bool
	seen    *Seen
}

// redoCalls repeats, in order, the calls since the restored state, so that the workspace matches the end of the
// journal.
func (r *runner) redoCalls(ctx context.Context) error {
	if err := r.recallKnownFiles(ctx, r.conv.known); err != nil {
		return err
	}
	rec := redoneRecord{}
	for _, again := range r.conv.since {
		if err := contextCause(ctx); err != nil {
			return err
		}
		if !again.changed {
			if err := r.recallKnownFiles(ctx, map[string]string{again.seen.Path: again.seen.Digest}); err != nil {
				return err
			}
			continue
		}
		toolJob := r.tools.prepareCall(again.pendingCall)
		if toolJob.answer != nil {
			continue // this version lacks the tool, or refuses the call
		}
		callCtx, end := r.passOutput(context.WithValue(ctx, askedKey{}, again.at), toolJob, r.utcNow())
		res, err := toolJob.tool.Run(callCtx, toolJob.args)
		end()
		if err != nil {
			if stop := contextCause(ctx); stop != nil {
				return stop
			}
			return fmt.Errorf("tool %s: %w", again.Name, err)
		}
		rec.Calls = append(rec.Calls, again.ID)
		if text := r.cfg.Redact(safetext.EscapeControl(res.Text)); stripVolatile(text) != stripVolatile(again.text) {
			rec.Differ = append(rec.Differ, difference{CallID: again.ID, Text: safetext.HeadTail(text, maxDifference)})
		}
		r.emitEvent(Event{
			Kind: ToolRedone, Tool: safetext.EscapeLine(again.Name, 64), CallID: again.ID, Args: toolJob.showArguments(),
			Text: safetext.EscapeLine(r.cfg.Redact(res.Text), 300), IsError: res.IsError, Changed: res.Changed,
		})
	}
	if len(rec.Calls) == 0 {
		return nil
	}
	var err error
	if rec.Saved, err = r.saveWorkspace(ctx, r.conv.turns); err != nil {
		return err
	}
	rec.At = r.utcNow()
	return r.appendRecord(ctx, kindRedone, rec)
}

func (r *runner) recallKnownFiles(ctx context.Context, known map[string]string) error {
	if r.cfg.Workspace == nil || len(known) == 0 {
		return nil
	}
	if err := r.cfg.Workspace.Recall(ctx, maps.Clone(known)); err != nil {
		if stop := contextCause(ctx); stop != nil {
			return stop
		}
		return fmt.Errorf("tell the tools what was read: %w", err)
	}
	return nil
}

// Limits of the note about calls that came out differently.
const (
	maxDifference  = 2 << 10 // bytes of one result
	maxDifferences = 8
)

// describeDifferences formats repeated calls with another result, for a note to the model.
func (c *conversation) describeDifferences() string {
	var b strings.Builder
	for i, diff := range c.differ {
		if i == maxDifferences {
			fmt.Fprintf(&b, "\n(and %d more)", len(c.differ)-i)
			break
		}
		fmt.Fprintf(&b, "\n\n%s %s now answers:\n%s", diff.name, safetext.EscapeLine(mainArgument(diff.args), 200), diff.text)
	}
	return b.String()
}

// unreportedDiff is a difference that the model has no note about yet.
type unreportedDiff struct{ name, args, text string }

// unsteady matches meaningless differences between two runs of one command: times, durations, addresses,
// (cached).
var unsteady = lazyregexp.New(
	`\d{4}-\d\d-\d\d|\d\d?:\d\d(:\d\d)?([.,]\d+)?|\b\d+([.,]\d+)?\s?(ns|us|µs|ms|s|secs?|seconds?|m|min|h)\b|\b(\d+[hms])+(\d+([.,]\d+)?s)?\b|0x[0-9a-f]+|\(cached\)`)

// stripVolatile removes the matches of unsteady and normalizes white space.
func stripVolatile(text string) string {
	return strings.Join(strings.Fields(unsteady.ReplaceAllString(text, " ")), " ")
}

// askedKey is the context key of the time at which a call was requested.
type askedKey struct{}

// Asked returns when the model requested the call that ctx belongs to. A repeated call has the same time. A tool
// that dates its result by it (a commit) gets the same result. It is zero if unknown.
func Asked(ctx context.Context) time.Time {
	at, _ := ctx.Value(askedKey{}).(time.Time)
	return at
}

// NotKeptOf turns an error of the journal or the blobs into a NotKept. EStale and EInvalid, which the caller
// must see, stay unchanged.
func NotKeptOf(err error) error {
	var already *NotKept
	if err == nil || company.CodeOf(err) == company.EStale || company.CodeOf(err) == company.EInvalid ||
		errors.As(err, &already) {
		return err
	}
	return &NotKept{err}
}
