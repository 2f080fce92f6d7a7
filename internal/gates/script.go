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
	"company/internal/safetext"
	"company/internal/service"
	"company/internal/toolproto"
)

// errNotBegun: the container ended, or ran out of time, before its script began.
var errNotBegun = errors.New("gates: the script did not begin")

// runScript runs a script on a job's tree in a container of its own, which the toolbox
// makes ready. Its exit is the script's own, or that of a container that ran out of memory.
//
// A container whose script never began tells nothing about the tree: the tree did not
// arrive, or the toolbox failed. That is an error of the host and wraps errNotBegun. Where
// the tree filled the container's work space, the error wraps errDiskFull.
//
// It is tried once more before that is told: some callers keep the error as their result.
func (r *Runner) runScript(ctx context.Context, j Job, spec container.Spec, script string, stdout, stderr io.Writer) (container.Exit, error) {
	exit, err := r.tryScript(ctx, j, spec, script, stdout, stderr)
	if errors.Is(err, errNotBegun) && !errors.Is(err, errDiskFull) && ctx.Err() == nil {
		exit, err = r.tryScript(ctx, j, spec, script, stdout, stderr)
	}
	return exit, err
}

// tryScript is one try of runScript.
func (r *Runner) tryScript(ctx context.Context, j Job, spec container.Spec, script string, stdout, stderr io.Writer) (container.Exit, error) {
	tr, tw := io.Pipe()
	tarred := make(chan struct{})
	go func() {
		defer close(tarred)
		tw.CloseWithError(company.Guard("packing the tree of a gate", func() error { return j.writeTar(ctx, tw) }))
	}()
	spec.Image = j.Image.ID
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

// beginReader passes stderr on without the line that says that the script begins.
type beginReader struct {
	out   io.Writer
	begun bool
	held  []byte // the end of the text so far, in which the line may begin
	said  []byte // the end of the toolbox's output before the line
}

// maxToolboxWords is how much of the toolbox's own text is kept: a service's log may be in it.
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

// pass passes on output of the toolbox.
func (b *beginReader) pass(text []byte) error {
	b.said = append(b.said, text...)
	b.said = b.said[max(0, len(b.said)-maxToolboxWords):]
	return writeSome(b.out, text)
}

// flush passes on the text that was held back at the end.
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

// explainNotBegun returns the error of a container whose script did not begin.
func (b *beginReader) explainNotBegun(exit container.Exit, outOfTime bool) error {
	said := validUTF8(b.said)
	if i := strings.Index(said, toolproto.ServiceFailed); i >= 0 && exit.Code == toolproto.ExitService {
		return service.StartError(said[i:])
	}
	if isDiskFull(said) {
		return company.E(company.EGates, "the tree has no room in the container of its check").
			Because(safetext.EscapeLine(lastLine(said), 300)).
			Fix("raise workers.disk, and workers.memory with it where the work space lies in memory (company doctor)").
			Wrap(errors.Join(errNotBegun, errDiskFull)).NeedsPerson()
	}
	why := fmt.Sprintf("the container ended with exit code %d before the check began", exit.Code)
	if outOfTime {
		why = "the container was not ready before the check's time was over"
	}
	if line := lastLine(said); line != "" {
		why += ": " + safetext.EscapeLine(line, 300)
	}
	if exit.Input != nil {
		why += " (its input: " + safetext.EscapeLine(exit.Input.Error(), 200) + ")"
	}
	return company.E(company.EGates, "the check could not begin in its container").
		Because(why + ". That says nothing about the work").
		Fix("company doctor says whether Docker is in order").
		Wrap(errNotBegun)
}
