package container

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"company/internal/company"
)

// drainTimeout limits the wait for the last output after the daemon has reported the
// exit. Usually the output has arrived by then; the limit is for a daemon that stalls.
const drainTimeout = 30 * time.Second

// killTimeout limits how long the daemon may take to kill a container after a timeout and to report
// its exit.
const killTimeout = 20 * time.Second

// stalledInputTimeout limits how long a container may run after writing its input failed.
// Usually it has exited by then, or exits at the end of the partial input.
const stalledInputTimeout = 30 * time.Second

// RunGate runs one container until it exits. It writes stdin to the container and the container's
// output to the writers, and returns the daemon's exit code. It removes the container before it
// returns. If ctx ends, it kills the container.
//
// It is not an error if a container exits before it has read its input; Exit.Input then holds the
// write error. Other failed writes look the same. The container then gets end of file and some time to
// exit, so it must be able to recognize truncated input. If stdin is an io.Closer, it is closed at the
// end, and its Read must then return. After an error of stdin or of a writer, the container is killed
// and no exit code is reported. If the deadline of ctx ended the run, Exit.OOMKilled is set beside the
// error, because a process that waits for an OOM-killed one may hang until then.
func RunGate(
	ctx context.Context, rt Runtime, spec Spec, stdin io.Reader, stdout, stderr io.Writer,
) (_ Exit, err error) {
	container, err := rt.Start(ctx, spec)
	if err != nil {
		return Exit{}, err
	}
	defer func() {
		if rerr := container.Remove(ctx); err == nil {
			err = rerr
		}
	}()

	// An error on our side of the streams ends the wait, with the error as cause.
	wctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)

	pipe := container.Pipe()
	fed := make(chan error, 1)
	go func() {
		src := &source{r: stdin}
		// The write hangs when the container exits first; closing the
		// connection below frees it.
		_, werr := io.Copy(pipe, src)
		if src.err != nil {
			stop(company.E(company.EGates, "cannot read the input of the container").Wrap(src.err))
			fed <- nil
			return // send no end of file: partial input must not look complete
		}
		if w, ok := pipe.(interface{ CloseWrite() error }); ok {
			werr = cmp.Or(werr, w.CloseWrite())
		}
		if werr != nil {
			stalled := time.NewTimer(stalledInputTimeout)
			defer stalled.Stop()
			select {
			case <-wctx.Done():
			case <-stalled.C:
				stop(company.E(company.EDocker, "cannot write the input of the container").Wrap(werr))
			}
		}
		fed <- werr
	}()
	copied := make(chan error, 1)
	go func() {
		err := container.Output(stdout, stderr)
		if err != nil {
			stop(company.E(company.EGates, "cannot copy the output of the container").Wrap(err))
		}
		copied <- err
	}()

	exit, err := container.Wait(wctx)
	if cause := context.Cause(wctx); cause != nil {
		err = cause
	}
	if err == nil {
		drain := time.NewTimer(drainTimeout)
		defer drain.Stop()
		select {
		case cerr := <-copied:
			copied <- cerr // for the wait below
			if cerr != nil {
				err = context.Cause(wctx)
			}
		case <-drain.C:
			err = company.E(company.EDocker, "the container ended, but its output did not")
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}

	stop(nil)
	_ = pipe.Close() // frees both goroutines
	if closer, ok := stdin.(io.Closer); ok {
		_ = closer.Close()
	}
	exit.Input = <-fed
	<-copied
	if err != nil {
		return Exit{OOMKilled: errors.Is(ctx.Err(), context.DeadlineExceeded) && endsOutOfMemory(ctx, container)}, err
	}
	return exit, nil
}

// endsOutOfMemory kills a container and reports whether a process in it has hit the memory limit. The
// daemon knows this only after the container has ended.
func endsOutOfMemory(ctx context.Context, container Container) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), killTimeout)
	defer cancel()
	if container.Kill(ctx) != nil {
		return false
	}
	exit, err := container.Wait(ctx)
	return err == nil && exit.OOMKilled
}

// source stores the error of its reader, to distinguish it from the writer's error.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}
