package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"company/internal/container"
	"company/internal/mux"
	"company/internal/toolproto"
)

// instance is one started container with the link to its toolbox.
type instance struct {
	container container.Container
	session   *mux.Session
	tools     *toolproto.Client
	memory    int64       // its limit in bytes
	used      atomic.Bool // by a run, which is counted
}

// start starts a container that waits for orders. When it fails, nothing is
// left.
func (s *Factory) start(ctx context.Context, image, name string, labels container.Labels, limits container.Limits) (_ *instance, err error) {
	b := &instance{memory: limits.WithDefaults().MemoryBytes}
	defer func() {
		if err != nil {
			b.close(ctx, s)
		}
	}()
	b.container, err = s.Runtime.Start(ctx, container.Spec{
		Name: name, Image: image, Labels: labels, Limits: limits,
		Command: []string{"/usr/local/bin/toolbox", "serve"},
		Env:     s.toolboxEnv(),
	})
	if err != nil {
		return nil, err
	}
	if b.session, err = mux.Host(b.container.Pipe()); err != nil {
		return nil, err
	}
	b.tools = toolproto.New(b.session)
	b.tools.Grace = max(0, s.StopGrace)
	return b, nil
}

// toolboxEnv is the toolbox's environment.
func (s *Factory) toolboxEnv() []string {
	env := []string{fmt.Sprintf("GATEWAY_PORT=%d", s.gatewayPort())}
	if s.StopGrace != 0 {
		env = append(env, "TOOLBOX_STOP_GRACE="+max(0, s.StopGrace).String())
	}
	return env
}

// acquireInstance gives a run its container: a warm one, or one of its own. It counts until it is
// closed.
func (s *Factory) acquireInstance(ctx context.Context, o Spec) (b *instance, err error) {
	defer func() {
		if err == nil {
			b.used.Store(true)
		}
	}()
	limits := s.Limits
	if s.Sizes != nil && o.Mirror != nil {
		s.Sizes.Learn(o.Mirror.Dir(), o.Need)
		limits = s.Sizes.Of(o.Mirror.Dir())
	}
	if limits.WithDefaults() == s.Limits.WithDefaults() { // else a warm one is too small
		if b = s.takeWarm(ctx, cmp.Or(o.ImageKey, o.Image), o.Epoch); b != nil {
			return b, nil
		}
	}
	s.takeRoom()
	defer func() {
		if err != nil {
			s.leaveRoom()
		}
	}()
	labels := container.Labels{Office: s.Office, Run: string(o.Run), Epoch: o.Epoch, Role: string(o.Role)}
	return s.start(ctx, o.Image, labels.Name(fmt.Sprint(o.Fence)), labels, limits)
}

// StartContainer does the first part of Open and nothing else, so that it can
// be measured: it gives a run its container and waits for the toolbox to
// answer. The caller ends the container.
func (s *Factory) StartContainer(ctx context.Context, o Spec) (end func(context.Context), err error) {
	b, err := s.acquireInstance(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := b.tools.Heartbeat(ctx); err != nil {
		b.close(ctx, s)
		return nil, err
	}
	return func(ctx context.Context) { b.close(ctx, s) }, nil
}

// isDisconnected reports whether the link is gone.
func (b *instance) isDisconnected() bool {
	select {
	case <-b.session.Done():
		return true
	default:
		return false
	}
}

// close ends the container and the link. It does its work even when ctx is
// over.
func (b *instance) close(ctx context.Context, s *Factory) {
	if b.container != nil {
		if err := b.container.Remove(context.WithoutCancel(ctx)); err != nil && !errors.Is(err, context.Canceled) {
			// The next start sweeps it by its label.
			s.Logger.WarnContext(ctx, "container not removed", "container_id", b.container.ID(), "err", err)
		}
	}
	if b.tools != nil {
		b.tools.Close()
	}
	if b.session != nil {
		_ = b.session.Close()
	}
	if b.used.CompareAndSwap(true, false) {
		s.leaveRoom()
	}
}
