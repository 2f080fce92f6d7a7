package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"company/internal/container"
	"company/internal/toolbox/mux"
	"company/internal/toolbox/toolproto"
)

// instance is a started container with the connection to its toolbox.
type instance struct {
	container container.Container
	session   *mux.Session
	tools     *toolproto.Client
	memory    int64       // its memory limit in bytes
	used      atomic.Bool // by a run that is counted in the pool
}

// start starts a container that waits for orders. On an error it cleans up.
func (s *Factory) start(
	ctx context.Context, image, name string, labels container.Labels, limits container.Limits,
) (_ *instance, err error) {
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

// acquireInstance returns a container for a run: a warm one, or a new one. The container is counted until it is
// closed.
func (s *Factory) acquireInstance(ctx context.Context, spec Spec) (b *instance, err error) {
	defer func() {
		if err == nil {
			b.used.Store(true)
		}
	}()
	limits := s.Limits
	if s.Sizes != nil && spec.Mirror != nil {
		s.Sizes.Learn(spec.Mirror.Dir(), spec.Need)
		limits = s.Sizes.Of(spec.Mirror.Dir())
	}
	if limits.WithDefaults() == s.Limits.WithDefaults() { // otherwise warm containers are too small
		if b = s.takeWarm(ctx, cmp.Or(spec.ImageKey, spec.Image), spec.Epoch); b != nil {
			return b, nil
		}
	}
	s.takeRoom()
	defer func() {
		if err != nil {
			s.leaveRoom()
		}
	}()
	labels := container.Labels{Office: s.Office, Run: string(spec.Run), Epoch: spec.Epoch, Role: string(spec.Role)}
	return s.start(ctx, spec.Image, labels.Name(fmt.Sprint(spec.Fence)), labels, limits)
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

// close ends the container and the link. It works even if ctx is done.
func (b *instance) close(ctx context.Context, factory *Factory) {
	if b.container != nil {
		if err := b.container.Remove(context.WithoutCancel(ctx)); err != nil && !errors.Is(err, context.Canceled) {
			// The next start removes it by its label.
			factory.Logger.WarnContext(ctx, "container not removed", "container_id", b.container.ID(), "err", err)
		}
	}
	if b.tools != nil {
		b.tools.Close()
	}
	if b.session != nil {
		_ = b.session.Close()
	}
	if b.used.CompareAndSwap(true, false) {
		factory.leaveRoom()
	}
}
