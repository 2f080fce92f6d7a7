// Package away lets code report that it waits for an external operation, such as a container or a
// registry. A caller that needs to know, such as internal/ledger/marks, adds a Func to the context.
// The package is kept this small so that the toolbox can include it.
package away

import "context"

// Func is called when a wait begins. The returned function is called once when the wait ends.
type Func func() (back func())

type contextKey struct{}

// NewContext returns a context that carries f.
func NewContext(ctx context.Context, f Func) context.Context {
	return context.WithValue(ctx, contextKey{}, f)
}

// Begin calls the Func in ctx, if there is one. The caller must call back exactly once.
func Begin(ctx context.Context) (back func()) {
	if f, ok := ctx.Value(contextKey{}).(Func); ok {
		return f()
	}
	return func() {}
}
