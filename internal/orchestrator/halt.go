package orchestrator

import "context"

// haltEffects cancels everything that is under way, at once, and lets nothing begin.
func (o *Orchestrator) haltEffects() {
	o.cutting.Lock()
	defer o.cutting.Unlock()
	o.halted = true
	if o.cutOff != nil {
		o.cutOff(ErrStopped)
		o.under, o.cutOff = nil, nil
	}
}

// resumeEffects lets effects begin again.
func (o *Orchestrator) resumeEffects() {
	o.cutting.Lock()
	halted := o.halted
	o.halted = false
	o.cutting.Unlock()
	if halted {
		o.wakeLoop()
	}
}

// effectContext is the context for a new effect; false: none may begin.
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
