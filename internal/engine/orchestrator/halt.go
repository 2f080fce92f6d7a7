package orchestrator

import "context"

// haltEffects immediately cancels all running effects and prevents new ones.
func (o *Orchestrator) haltEffects() {
	o.cutting.Lock()
	defer o.cutting.Unlock()
	o.halted = true
	if o.cutOff != nil {
		o.cutOff(ErrStopped)
		o.under, o.cutOff = nil, nil
	}
}

// resumeEffects allows effects to start again.
func (o *Orchestrator) resumeEffects() {
	o.cutting.Lock()
	halted := o.halted
	o.halted = false
	o.cutting.Unlock()
	if halted {
		o.wakeLoop()
	}
}

// effectContext returns the context for a new effect, or false if no effect may start.
func (o *Orchestrator) effectContext(ctx context.Context) (context.Context, bool) {
	o.cutting.Lock()
	defer o.cutting.Unlock()
	if o.halted {
		return nil, false
	}
	if o.under == nil || o.under.Err() != nil {
		o.under, o.cutOff = context.WithCancelCause(ctx)
	}
	return o.under, true
}
