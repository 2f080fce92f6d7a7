package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lazyregexp"
	"company/internal/marks"
	"company/internal/safetext"
)

// Workspace is the place that tools change, as far as an interruption is
// concerned. After a result that says "changed" the state that holds the change is
// kept and journaled; the next holder of the run brings the newest such state back,
// and does all later calls again on it.
type Workspace interface {
	// Save keeps the state as it is now. Nil: this state cannot be brought
	// back (a rebase is half done, a disk inside is full); then the calls since
	// the last one that can be are done again after an interruption. A *NotKept
	// is the host's own failure; any other error says that the place is lost.
	// ctx may outlive the run's by saveGrace. Tools that only read may run
	// meanwhile.
	Save(ctx context.Context, turn int) (*Saved, error)
	// Recall tells the tools which contents of files the agent knows: path to
	// digest.
	Recall(ctx context.Context, known map[string]string) error
}

// Saved is a state that a workspace can be brought back to.
type Saved struct {
	// Checkpoint is the commit that holds the state; empty: it is the one that
	// the run began with.
	Checkpoint company.OID `json:"checkpoint,omitempty"`
	// Pushed is where the run's branches stood, by full name.
	Pushed map[string]company.OID `json:"pushed,omitempty"`
}

// Seen is the content of a file that the agent knows after a call.
type Seen struct {
	Path   string `json:"path"`
	Digest string `json:"digest"`
}

// Shown is the answer of a tool that the agent has in its first message, and did not ask for.
type Shown struct {
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"` // of the call that has this answer, as JSON
	Text      string `json:"text"`
}

// NotKept reports that a result could not be recorded, for a reason of the
// host: a full disk, a bus that is away. The run is not over. Its next holder
// goes on where the journal ends.
type NotKept struct{ Err error }

func (e *NotKept) Error() string { return e.Err.Error() }
func (e *NotKept) Unwrap() error { return e.Err }

// saveGrace is how long saving may go on after the run was interrupted. An
// unsaved call is done again later.
const saveGrace = 5 * time.Second

// withGrace is a context that ends grace after ctx does.
func withGrace(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(grace, func() { cancel(context.Cause(ctx)) })
		context.AfterFunc(own, func() { timer.Stop() })
	})
	return own, func() { stop(); cancel(nil) }
}

// saveWorkspace keeps the state that changing calls have left. After an interruption an
// error of it is the interruption.
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

// again is a journaled call that the restored state does not hold.
type again struct {
	pendingCall
	at      time.Time // when its reply came
	text    string    // what the model was shown
	changed bool
	seen    *Seen
}

// redoCalls brings the workspace from the state that was restored to the one that
// the journal ends with: the calls since are done again, in order.
func (r *runner) redoCalls(ctx context.Context) error {
	if err := r.recallKnownFiles(ctx, r.conv.known); err != nil {
		return err
	}
	rec := redoneRecord{}
	for _, c := range r.conv.since {
		if err := contextCause(ctx); err != nil {
			return err
		}
		if !c.changed {
			if err := r.recallKnownFiles(ctx, map[string]string{c.seen.Path: c.seen.Digest}); err != nil {
				return err
			}
			continue
		}
		mark := r.enterCall(marks.Repeat, c.pendingCall)
		j := r.tools.prepareCall(c.pendingCall)
		if j.answer != nil {
			mark.Pass()
			continue // a tool that this version does not have
		}
		callCtx, end := r.passOutput(mark.NewContext(context.WithValue(ctx, askedKey{}, c.at)), j, r.utcNow())
		res, err := j.tool.Run(callCtx, j.args)
		end()
		mark.Pass()
		if err != nil {
			if stop := contextCause(ctx); stop != nil {
				return stop
			}
			return fmt.Errorf("tool %s: %w", c.Name, err)
		}
		rec.Calls = append(rec.Calls, c.ID)
		if text := safetext.EscapeControl(res.Text); stripVolatile(text) != stripVolatile(c.text) {
			rec.Differ = append(rec.Differ, difference{CallID: c.ID, Text: safetext.HeadTail(text, maxDifference)})
		}
		r.emitEvent(Event{
			Kind: ToolRedone, Tool: safetext.EscapeLine(c.Name, 64), CallID: c.ID, Args: j.showArguments(),
			Text: safetext.EscapeLine(res.Text, 300), IsError: res.IsError, Changed: res.Changed,
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

// Bounds of the note about calls that came out differently.
const (
	maxDifference  = 2 << 10 // bytes of one result
	maxDifferences = 8
)

// describeDifferences is the note for the model about calls that were done
// again with another result.
func (c *conversation) describeDifferences() string {
	var b strings.Builder
	for i, d := range c.differ {
		if i == maxDifferences {
			fmt.Fprintf(&b, "\n(and %d more)", len(c.differ)-i)
			break
		}
		fmt.Fprintf(&b, "\n\n%s %s now answers:\n%s", d.name, safetext.EscapeLine(mainArgument(d.args), 200), d.text)
	}
	return b.String()
}

// unreportedDiff is a difference that the model has no note about yet.
type unreportedDiff struct{ name, args, text string }

// unsteady is what differs between two runs of one command without meaning
// anything: times, durations, addresses, what a cache says of itself.
var unsteady = lazyregexp.New(`\d{4}-\d\d-\d\d|\d\d?:\d\d(:\d\d)?([.,]\d+)?|\b\d+([.,]\d+)?\s?(ns|us|µs|ms|s|secs?|seconds?|m|min|h)\b|\b(\d+[hms])+(\d+([.,]\d+)?s)?\b|0x[0-9a-f]+|\(cached\)`)

// stripVolatile is a result without what means nothing.
func stripVolatile(text string) string {
	return strings.Join(strings.Fields(unsteady.ReplaceAllString(text, " ")), " ")
}

// askedKey is where the context of a call holds when it was asked for.
type askedKey struct{}

// Asked is when the model asked for the call that ctx belongs to: the same
// moment whenever the call is done again. A tool that dates its result by it (a
// commit) gets the same result. Zero: unknown.
func Asked(ctx context.Context) time.Time {
	at, _ := ctx.Value(askedKey{}).(time.Time)
	return at
}

// NotKeptOf makes an error of the journal or the blobs the host's own, a NotKept. EStale and
// EInvalid, which the caller must see, stay as they are.
func NotKeptOf(err error) error {
	var already *NotKept
	if err == nil || company.CodeOf(err) == company.EStale || company.CodeOf(err) == company.EInvalid || errors.As(err, &already) {
		return err
	}
	return &NotKept{err}
}
