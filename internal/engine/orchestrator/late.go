package orchestrator

import (
	"bytes"
	"context"
	"fmt"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"company/internal/company"
)

// LatePatience is how long an effect may take to return after its context has ended, before it is reported as late.
const LatePatience = 30 * time.Second

// LateEffect is an effect that has not returned although its context has ended.
type LateEffect struct {
	Effect company.Effect
	Since  time.Time // when its context ended, by the office's clock
	Cause  error     // why its context ended
	Stacks string    // of the goroutines that it started; empty if Ended
	Ended  bool      // it has returned in the meantime
}

// watchEnd watches an effect from the end of its context to its return. The caller must call returned once, when the
// effect has returned.
func (o *Orchestrator) watchEnd(ctx context.Context, effect company.Effect) (returned func()) {
	back, watched := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(watched)
		if err := company.Guard("watching the end of "+effect.Key,
			func() error { o.awaitEnd(ctx, effect, back); return nil }); err != nil {
			o.cfg.Logger.ErrorContext(ctx, "an effect's end is not watched", "key", effect.Key, "err", err)
		}
	})
	return func() {
		close(back)
		if !stop() {
			<-watched
		}
	}
}

// awaitEnd waits for the return of an effect whose context has ended, and reports it if it is late.
func (o *Orchestrator) awaitEnd(ctx context.Context, effect company.Effect, back <-chan struct{}) {
	late := LateEffect{Effect: effect, Since: o.cfg.Clock.Now(), Cause: context.Cause(ctx)}
	o.ending.Store(effect.Key, late)
	defer o.ending.Delete(effect.Key)
	patience := time.NewTimer(o.cfg.LatePatience)
	defer patience.Stop()
	select {
	case <-back:
		return
	case <-patience.C:
	}
	late.Stacks = stacksOf(effect.Key)
	o.reportLate(ctx, late)
	<-back
	late.Stacks, late.Ended = "", true
	o.reportLate(ctx, late)
}

func (o *Orchestrator) reportLate(ctx context.Context, late LateEffect) {
	what := "an effect does not end"
	if late.Ended {
		what = "an effect has ended late"
	}
	o.cfg.Logger.WarnContext(ctx, what, "key", late.Effect.Key, "task_id", late.Effect.Task, "run_id", late.Effect.Run,
		"since", late.Since, "cause", late.Cause)
	if o.cfg.OnLate != nil {
		o.cfg.OnLate(late)
	}
}

// Unended lists the effects that have not returned although their context has ended, longest first.
func (o *Orchestrator) Unended() []LateEffect {
	var out []LateEffect
	o.ending.Range(func(_, late any) bool {
		out = append(out, late.(LateEffect))
		return true
	})
	slices.SortFunc(out, func(a, b LateEffect) int { return a.Since.Compare(b.Since) })
	return out
}

// effectLabel is the pprof label on the goroutines of an effect.
const effectLabel = "effect"

// stacksOf returns the stacks of the goroutines with an effect's label: its own and those that it started.
func stacksOf(key string) string {
	var all bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&all, 1); err != nil {
		return "the stacks could not be read: " + err.Error()
	}
	label := fmt.Sprintf("%q:%q", effectLabel, key)
	var own []string
	for _, record := range strings.Split(all.String(), "\n\n") {
		if strings.Contains(record, label) {
			own = append(own, record)
		}
	}
	if len(own) == 0 {
		return "no goroutine of the effect was found; these are all:\n\n" + all.String()
	}
	return strings.Join(own, "\n\n") + "\n"
}
