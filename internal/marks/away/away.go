// Package away has code say that it waits for something outside of its process, such as a
// container or a registry. Who needs to know, as internal/marks does, gives the context an Away
// of its own. The package does nothing else, so that the toolbox can have it.
package away

import "context"

// Func is called where a wait begins, and its result once where it ends.
type Func func() (back func())

type contextKey struct{}

// NewContext adds a Func to a context.
func NewContext(ctx context.Context, f Func) context.Context {
	return context.WithValue(ctx, contextKey{}, f)
}

// Begin calls the Func in ctx. Without one nothing happens. The caller calls back once.
func Begin(ctx context.Context) (back func()) {
	if f, ok := ctx.Value(contextKey{}).(Func); ok {
		return f()
	}
	return func() {}
}
