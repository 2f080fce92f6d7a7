package gates

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"company/internal/company"
	"company/internal/container"
	"company/internal/container/service"
	"company/internal/lib/safetext"
	"company/internal/toolbox/toolproto"
)

// errNotBegun means that the container ended or timed out before its script began.
var errNotBegun = errors.New("gates: the script did not start")

// runScript runs a script on a job's tree in its own container, which the toolbox prepares. The exit code is the
// script's own, or that of a container that ran out of memory.
//
// If the script never began, the run shows no property of the tree: the tree did not arrive, or the toolbox failed.
// This is an error of the host and wraps errNotBegun. If the tree filled the container's work space, the error also
// wraps errDiskFull.
//
// A script that did not begin is retried once before the error is returned, because some callers keep the error as
// their result.
func (r *Runner) runScript(
	ctx context.Context, job Job, spec container.Spec, script string, stdout, stderr io.Writer,
) (container.Exit, error) {
	exit, err := r.tryScript(ctx, job, spec, script, stdout, stderr)
	if errors.Is(err, errNotBegun) && !errors.Is(err, errDiskFull) && ctx.Err() == nil {
		exit, err = r.tryScript(ctx, job, spec, script, stdout, stderr)
	}
	return exit, err
}

// tryScript makes one attempt for runScript.
func (r *Runner) tryScript(
	ctx context.Context, job Job, spec container.Spec, script string, stdout, stderr io.Writer,
) (container.Exit, error) {
	tr, tw := io.Pipe()
	tarred := make(chan struct{})
	go func() {
		defer close(tarred)
		tw.CloseWithError(company.Guard("packing the tree of a gate", func() error { return job.writeTar(ctx, tw) }))
	}()
	spec.Image = job.Image.ID
	spec.Command = []string{"/usr/local/bin/toolbox", "gate", "--", "/bin/sh", "-c", script}
	words := &beginReader{out: stderr}
	exit, err := container.RunGate(ctx, r.Runtime, spec, tr, stdout, words)
	tr.CloseWithError(io.ErrClosedPipe)
	<-tarred
	if ferr := words.flush(); err == nil {
		err = ferr
	}
	outOfTime := err != nil && errors.Is(context.Cause(ctx), errTimeout)
	if words.begun || exit.OOMKilled || err != nil && !outOfTime {
		return exit, err
	}
	return container.Exit{}, words.explainNotBegun(exit, outOfTime)
}

// beginReader forwards stderr without the marker that the script begins.
type beginReader struct {
	out   io.Writer
	begun bool
	held  []byte // the end of the text so far, which may be the start of the marker
	said  []byte // the end of the toolbox's output before the marker
}

// maxToolboxWords limits how much of the toolbox's own output is kept. It may contain a service's log.
const maxToolboxWords = 16 << 10

func (b *beginReader) Write(p []byte) (int, error) {
	if b.begun {
		return b.out.Write(p)
	}
	b.held = append(b.held, p...)
	before, behind, found := bytes.Cut(b.held, []byte(toolproto.CommandBegins))
	if b.begun = found; !found {
		keep := max(0, len(b.held)-len(toolproto.CommandBegins)+1)
		before, behind = b.held[:keep], b.held[keep:]
	}
	b.held = nil
	if err := b.pass(before); err != nil {
		return 0, err
	}
	if found {
		return len(p), writeSome(b.out, behind)
	}
	b.held = bytes.Clone(behind)
	return len(p), nil
}

// pass forwards output of the toolbox.
func (b *beginReader) pass(text []byte) error {
	b.said = append(b.said, text...)
	b.said = b.said[max(0, len(b.said)-maxToolboxWords):]
	return writeSome(b.out, text)
}

// flush forwards the text that is still held back at the end.
func (b *beginReader) flush() error {
	text := b.held
	b.held = nil
	return b.pass(text)
}

func writeSome(w io.Writer, text []byte) error {
	if len(text) == 0 {
		return nil
	}
	_, err := w.Write(text)
	return err
}

// explainNotBegun returns the error for a container whose script did not begin.
func (b *beginReader) explainNotBegun(exit container.Exit, outOfTime bool) error {
	said := validUTF8(string(b.said))
	if i := strings.Index(said, toolproto.ServiceFailed); i >= 0 && exit.Code == toolproto.ExitService {
		return service.StartError(said[i:])
	}
	if isDiskFull(said) {
		return company.E(company.EGates, "the tree does not fit into the container of its check").
			Because(safetext.EscapeLine(lastLine(said), 300)).
			Fix("raise workers.disk, and workers.memory with it if the work space is in memory (company doctor)").
			Wrap(errors.Join(errNotBegun, errDiskFull)).NeedsPerson()
	}
	reason := fmt.Sprintf("the container ended with exit code %d before the check began", exit.Code)
	if outOfTime {
		reason = "the container was not ready before the check's time was over"
	}
	if line := lastLine(said); line != "" {
		reason += ": " + safetext.EscapeLine(line, 300)
	}
	if exit.Input != nil {
		reason += " (its input: " + safetext.EscapeLine(exit.Input.Error(), 200) + ")"
	}
	return company.E(company.EGates, "the check could not start in its container").
		Because(reason + ". That says nothing about the work").
		Fix("run company doctor to check Docker").
		Wrap(errNotBegun)
}
