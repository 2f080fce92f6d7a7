package container

import (
	"cmp"
	"context"
	"io"
	"time"

	"company/internal/company"
)

// How long the last output may take to arrive once the daemon has reported the
// exit. It is there already as a rule; the bound is for a daemon that stalls.
const drainTimeout = 30 * time.Second

// How long a container that did not take its input may run on. It has exited by then as a
// rule, or does so at the end of what it got.
const stalledInputTimeout = 30 * time.Second

// RunGate runs one container to its end: stdin is fed to it, its output goes
// to the writers, and the daemon's exit code is the answer. The container is
// removed before RunGate returns, also when ctx ends, which kills it.
//
// A container that exits before it has read its input is no error, and Exit.Input
// says so. A failed write looks the same from here: the container gets end of file
// and has some time to exit, so it must be able to tell half an input from a whole one.
// stdin is closed when the container is done, if it can be closed; its Read must then
// return. An error from stdin or from a writer is an error of ours: the
// container is killed, and no exit code is reported.
func RunGate(ctx context.Context, rt Runtime, spec Spec, stdin io.Reader, stdout, stderr io.Writer) (_ Exit, err error) {
	c, err := rt.Start(ctx, spec)
	if err != nil {
		return Exit{}, err
	}
	defer func() {
		if rerr := c.Remove(ctx); err == nil {
			err = rerr
		}
	}()

	// A failure of our own side of the streams ends the wait with its cause.
	wctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)

	pipe := c.Pipe()
	fed := make(chan error, 1)
	go func() {
		src := &source{r: stdin}
		// The write hangs when the container exits first; closing the
		// connection below frees it.
		_, werr := io.Copy(pipe, src)
		if src.err != nil {
			stop(company.E(company.EGates, "the input of the container could not be read").Wrap(src.err))
			fed <- nil
			return // without end of file: half an input must not look whole
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
				stop(company.E(company.EDocker, "the input of the container could not be written").Wrap(werr))
			}
		}
		fed <- werr
	}()
	copied := make(chan error, 1)
	go func() {
		err := c.Output(stdout, stderr)
		if err != nil {
			stop(company.E(company.EGates, "the output of the container could not be copied").Wrap(err))
		}
		copied <- err
	}()

	exit, err := c.Wait(wctx)
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
			err = company.E(company.EDocker, "the container's output did not end with it")
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
		return Exit{}, err
	}
	return exit, nil
}

// source remembers the error of its reader, to tell it from the writer's.
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
