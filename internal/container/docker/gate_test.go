package docker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/container"
)

// container.RunGate on real containers.
func TestGate(t *testing.T) {
	r := newRuntime(t)
	t.Run("exit code", func(t *testing.T) {
		if exit, _, _ := gate(t, r, newSpec("exit", "42"), ""); exit.Code != 42 || exit.OOMKilled {
			t.Errorf("exit %+v", exit)
		}
	})
	t.Run("stdin to its end", func(t *testing.T) {
		in := strings.Repeat("a line of input\n", 1<<20)
		sum := sha256.Sum256([]byte(in))
		_, out, _ := gate(t, r, newSpec("sum"), in)
		if want := fmt.Sprintf("%d %s\n", len(in), hex.EncodeToString(sum[:])); out != want {
			t.Errorf("the container read %q, want %q", out, want)
		}
	})
	t.Run("streams apart", func(t *testing.T) {
		const n = 4 << 20
		_, out, errs := gate(t, r, newSpec("flood", fmt.Sprint(n)), "")
		if out != strings.Repeat("o", n) || errs != strings.Repeat("e", n) {
			t.Errorf("%d bytes of stdout, %d of stderr, want %d each", len(out), len(errs), n)
		}
	})
	t.Run("exit before the input is read", func(t *testing.T) {
		if exit, _, _ := gate(t, r, newSpec("exit", "3"), strings.Repeat("x", 8<<20)); exit.Code != 3 || exit.Input == nil {
			t.Errorf("exit %+v", exit)
		}
	})
	t.Run("child in the background", func(t *testing.T) {
		exit, out, _ := gate(t, r, newSpec("orphan"), "")
		if exit.Code != 7 {
			t.Errorf("exit %+v, output %q", exit, out)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(testContext(t))
		stopped := company.E(company.EStopped, "stopped")
		spec := newSpec("hang")
		_, err := container.RunGate(ctx, r, spec, strings.NewReader(""), writerFunc(func(p []byte) (int, error) {
			cancel(stopped) // it runs
			return len(p), nil
		}), io.Discard)
		requireCode(t, err, company.EStopped)
		if exists(t, spec.Name) {
			t.Error("the container is still there")
		}
	})
	t.Run("broken input", func(t *testing.T) {
		spec := newSpec("sum")
		broken := io.MultiReader(strings.NewReader("half"),
			readerFunc(func([]byte) (int, error) { return 0, errors.New("disk") }))
		_, err := container.RunGate(testContext(t), r, spec, broken, io.Discard, io.Discard)
		requireCode(t, err, company.EGates)
		if exists(t, spec.Name) {
			t.Error("the container is still there")
		}
	})
	t.Run("broken output", func(t *testing.T) {
		_, err := container.RunGate(testContext(t), r, newSpec("flood", "10000000"), strings.NewReader(""),
			writerFunc(func([]byte) (int, error) { return 0, errors.New("disk") }), io.Discard)
		requireCode(t, err, company.EGates)
	})
	t.Run("input that blocks is closed", func(t *testing.T) {
		in, w := io.Pipe()
		defer w.Close()
		exit, err := container.RunGate(testContext(t), r, newSpec("exit", "5"), in, io.Discard, io.Discard)
		if err != nil || exit.Code != 5 {
			t.Errorf("exit %+v, %v", exit, err)
		}
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
