package gates_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/gates"
)

// GAT-1: lint first, test only if lint passed, a skipped test is not passed;
// and the exit code is the verdict, whatever is printed.
func TestLintBeforeTest(t *testing.T) {
	t.Parallel()
	b := setup(t, nil).withDocker()
	for _, c := range []struct {
		name, lint, test string
		passed           bool
		codes            []int // of the checks that ran
		reruns           int   // of a red test, which may be an accident
	}{
		{"green", "true", "true", true, []int{0, 0}, 0},
		{"only a test", "", "test -f README", true, []int{0}, 0},
		{"red lint", "exit 3", "true", false, []int{3}, 0},
		{"red test", "true", "exit 4", false, []int{0, 4}, 1},
		{"says PASS and fails", "true", "echo 'ok PASS 0 failures'; exit 1", false, []int{0, 1}, 1},
		{"says FAIL and passes", "true", "echo '--- FAIL: TestX'; exit 0", true, []int{0, 0}, 0},
		{"cannot start", "no-such-linter ./...", "true", false, []int{127}, 0},
		{"killed by a signal", "true", "sh -c 'kill -KILL $$'; exit $?", false, []int{0, 137}, 1},
		{"syntax error", "true", "if", false, []int{0, 2}, 1},
		{"as the toolbox without a tree", "exit 125", "true", false, []int{125}, 0},
		{"as the toolbox without a service", "echo 'toolbox: the service x' >&2; exit 119", "true", false, []int{119}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := len(b.rt.specs)
			j := b.job(c.lint, c.test)
			var told []string
			j.OnCheckStarted = func(name string) { told = append(told, name) }
			res := b.mustRun(j)
			if res.Passed != c.passed || len(res.Checks) != len(j.Gates) {
				t.Fatalf("%+v", res)
			}
			var codes []int
			for i, ch := range res.Checks {
				if ch.Name != j.Gates[i].Name || ch.Command != j.Gates[i].Command {
					t.Errorf("check %d is %s %q", i, ch.Name, ch.Command)
				}
				if ch.Skipped {
					if ch.Passed || ch.Log != "" {
						t.Errorf("a skipped check with a result: %+v", ch)
					}
					continue
				}
				codes = append(codes, ch.ExitCode)
				if ch.Passed != (ch.ExitCode == 0) {
					t.Errorf("%+v", ch)
				}
			}
			reruns := 0
			for _, ch := range res.Checks {
				reruns += len(ch.Attempts)
			}
			if reruns != c.reruns {
				t.Errorf("%d runs again, want %d", reruns, c.reruns)
			}
			if !slices.Equal(codes, c.codes) || len(told) != len(c.codes) || len(b.rt.specs)-before != len(c.codes)+reruns {
				t.Errorf("exit codes %v, told of %v, %d containers, want %v", codes, told, len(b.rt.specs)-before, c.codes)
			}
			for _, s := range b.rt.specs[before:] {
				if s.Labels != (container.Labels{Office: b.office, Run: "t1-01", Epoch: 1, Role: "gate"}) || s.Image != b.image {
					t.Errorf("container %+v", s)
				}
			}
		})
	}
}

// A gate's container is its own and has no network: nothing of lint's is there
// for test.
func TestContainersFreshAndOffline(t *testing.T) {
	b := setup(t, nil).withDocker()
	res := b.mustRun(b.job(
		"touch left /tmp/left ~/left && echo made",
		`test ! -e left && test ! -e /tmp/left && test ! -e ~/left && test "$(ls /sys/class/net)" = lo && test "$(id -u)" = 65532 && test ! -e /var/run/docker.sock`))
	if !res.Passed {
		t.Errorf("%+v", res)
	}
	if len(b.rt.ids) != 2 || b.rt.ids[0] == b.rt.ids[1] {
		t.Errorf("containers %v", b.rt.ids)
	}
}

// The tree arrives bit for bit: modes, symlinks, odd names, no line endings
// converted and nothing left out, whatever the repository's attributes say.
func TestTreeBitForBit(t *testing.T) {
	odd := "odd\n name'\"\\ é$(x)"
	b := setup(t, func(dir string) {
		for name, f := range map[string]struct {
			text string
			mode os.FileMode
		}{
			"bin/run.sh":     {"#!/bin/sh\nexit 0\n", 0o755},
			"crlf.txt":       {"a\r\nb\r\n", 0o644},
			"bytes.bin":      {"\x00\xff\xfe\x80" + strings.Repeat("\x01", 70_000), 0o644},
			odd:              {"odd", 0o644},
			"-rf":            {"dash", 0o644},
			"empty":          {"", 0o644},
			".gitattributes": {"* text eol=crlf export-ignore\n", 0o644},
			".hidden/x":      {"$Id$\n", 0o644},
		} {
			p := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(p, []byte(f.text), f.mode); err != nil {
				t.Fatal(err)
			}
		}
		for link, to := range map[string]string{"bin/link": "../crlf.txt", "dangling": "nowhere"} {
			if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
				t.Fatal(err)
			}
		}
	}).withDocker()
	// git itself says whether the files are those of the tree, by a tree of
	// its own made from what lies in the container.
	j := b.job(
		"", `export GIT_DIR=/tmp/g && git init -q && git --work-tree=. -c core.autocrlf=false -c core.attributesFile=/dev/null add -A . 2>/dev/null
git --work-tree=. ls-files -s | cut -c1-6 | sort | uniq -c
find . -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum
test -x bin/run.sh && test ! -x crlf.txt && bin/run.sh && test "$(readlink bin/link)" = ../crlf.txt && test "$(readlink dangling)" = nowhere`)
	res := b.mustRun(j)
	out := res.Checks[0].Output
	want := b.hostSum()
	if !res.Passed || !strings.Contains(out, want) {
		t.Errorf("passed %v, want the sum %s in\n%s", res.Passed, want, out)
	}
	for _, line := range []string{"8 100644", "1 100755", "2 120000"} {
		if !strings.Contains(out, line) {
			t.Errorf("no %q in\n%s", line, out)
		}
	}
}

// hostSum is the same sum over the blobs in git: of a work tree that git wrote
// without any conversion.
func (b *bundle) hostSum() string {
	b.t.Helper()
	dir := filepath.Join(b.t.TempDir(), "tree")
	b.git("clone", "-q", "--no-checkout", b.dir, dir)
	list := b.git("ls-tree", "-r", "-z", "HEAD")
	for entry := range strings.SplitSeq(strings.TrimSuffix(list, "\x00"), "\x00") {
		meta, name, _ := strings.Cut(entry, "\t")
		f := strings.Fields(meta)
		if f[0] == "120000" {
			continue
		}
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			b.t.Fatal(err)
		}
		raw := b.rawGit("cat-file", "blob", f[2])
		if err := os.WriteFile(p, raw, 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil {
		b.t.Fatal(err)
	}
	return b.runShell(dir, "find . -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum")
}

func TestOutput(t *testing.T) {
	b := setup(t, nil).withDocker()
	t.Run("short", func(t *testing.T) {
		ch := b.mustRun(b.job("", `printf 'out\n'; printf 'err \377\n' >&2; exit 1`)).Checks[0]
		if !strings.Contains(ch.Output, "out\n") || !strings.Contains(ch.Output, "err \uFFFD\n") ||
			len(b.blobs[ch.Log]) != len("out\nerr \xff\n") {
			t.Errorf("%q, blob %q", ch.Output, b.blobs[ch.Log])
		}
	})
	t.Run("head and tail, the whole in a blob", func(t *testing.T) {
		ch := b.mustRun(b.job("", `echo first; seq 100000; echo last`)).Checks[0]
		whole := b.blobs[ch.Log]
		if !strings.HasPrefix(ch.Output, "first\n1\n2\n") || !strings.HasSuffix(ch.Output, "\n100000\nlast\n") ||
			len(ch.Output) > 8<<10+100 {
			t.Errorf("%d bytes: %q … %q", len(ch.Output), ch.Output[:50], ch.Output[len(ch.Output)-50:])
		}
		if n := len(whole); n != len("first\nlast\n")+588895 ||
			!strings.Contains(ch.Output, fmt.Sprintf("[… %d bytes left out …]", n-8<<10)) {
			t.Errorf("the blob has %d bytes", n)
		}
	})
	t.Run("more than is kept", func(t *testing.T) {
		ch := b.mustRun(b.job("", `head -c 12000000 /dev/zero | tr '\0' x; echo; echo the end`)).Checks[0]
		if n := len(b.blobs[ch.Log]); n != 10<<20 {
			t.Errorf("the blob has %d bytes", n)
		}
		if !strings.HasSuffix(ch.Output, "x\nthe end\n") {
			t.Errorf("the end is lost: %q", ch.Output[len(ch.Output)-50:])
		}
	})
	t.Run("a child in the background does not delay", func(t *testing.T) {
		ch := b.mustRun(b.job("", `sleep 3600 & echo started`)).Checks[0]
		if !ch.Passed || ch.Output != "started\n" || ch.Took > 10*time.Minute {
			t.Errorf("%+v", ch)
		}
	})
	t.Run("its keeper fails", func(t *testing.T) {
		r := *b.runner
		r.Blobs = fullDisk{}
		if _, err := r.Run(b.ctx, b.job("", "true")); err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("%v", err)
		}
	})
}

// A check that runs too long is red, with the code that timeout gives.
func TestTimeout(t *testing.T) {
	b := setup(t, nil).withDocker()
	b.runner.Timeout = 3 * time.Second
	j := b.job("echo begun; sleep 3600", "true")
	res, err := b.runner.Run(b.ctx, j)
	for errors.Is(err, gates.ErrNotBegun) && b.runner.Timeout < 4*time.Minute {
		b.runner.Timeout *= 4 // its container took that long to start
		res, err = b.runner.Run(b.ctx, j)
	}
	if err != nil {
		t.Fatal(err)
	}
	ch := res.Checks[0]
	if res.Passed || ch.Passed || ch.ExitCode != 124 ||
		!strings.Contains(ch.Output, "ended after "+b.runner.Timeout.String()) || !res.Checks[1].Skipped {
		t.Errorf("%+v", res)
	}
}

// Running out of memory says nothing about the work: no verdict.
func TestOutOfMemory(t *testing.T) {
	b := setup(t, nil).withDocker()
	_, err := b.runner.Run(b.ctx, b.job("", "tail /dev/zero"))
	var e *company.Error
	if !errors.As(err, &e) || e.Code != company.EGates || e.Hint == "" {
		t.Errorf("%v", err)
	}
}

// Cancelled in the middle: no verdict, and the container is gone.
func TestCancel(t *testing.T) {
	b := setup(t, nil).withDocker()
	ctx, cancel := context.WithCancelCause(b.ctx)
	defer cancel(nil)
	stopped := company.E(company.EStopped, "stopped")
	b.rt.started = func(container.Container) { cancel(stopped) }
	_, err := b.runner.Run(ctx, b.job("", "sleep 3600"))
	if !errors.Is(err, stopped) {
		t.Errorf("%v", err)
	}
	left, err := b.rt.List(b.ctx, b.office)
	if err != nil || len(left) != 0 || len(b.rt.ids) != 1 {
		t.Errorf("left %v, %v; started %v", left, err, b.rt.ids)
	}
}

func TestRunErrors(t *testing.T) {
	b := setup(t, nil).withDocker()
	t.Run("a tree that is not there", func(t *testing.T) {
		j := b.job("", "true")
		j.Tree = company.OID(strings.Repeat("1", 40))
		if _, err := b.runner.Run(b.ctx, j); err == nil {
			t.Error("a verdict on nothing")
		}
	})
	t.Run("an image that is not there", func(t *testing.T) {
		j := b.job("", "true")
		j.Image = gates.ImageByID("sha256:" + strings.Repeat("0", 64))
		if _, err := b.runner.Run(b.ctx, j); company.CodeOf(err) != company.EImage {
			t.Errorf("%v", err)
		}
	})
	t.Run("no gates", func(t *testing.T) {
		res, err := b.runner.Run(b.ctx,
			gates.Job{Mirror: b.mirror, Tree: b.job("", "true").Tree, Hash: gates.HashGates(nil),
				Image: gates.ImageByID(b.image)})
		if err != nil || !res.Untested || res.Passed {
			t.Errorf("%+v, %v", res, err)
		}
	})
}

// A check that ran out of memory gets more, as far as the host has it, and what
// was learned holds for the project's next containers. Where there is no more,
// a person is told at once: the same container would do the same again.
func TestMemoryGrows(t *testing.T) {
	b := setup(t, nil).withDocker()
	const half = container.GiB / 2
	needs := "head -c 1700m /dev/zero | tail -c 1700m >/dev/null" // holds all of it
	b.runner.LimitsByProject = container.NewSizes(b.runner.Limits, 3*container.GiB)
	var told []string
	j := b.job("", needs)
	j.OnCheckStarted = func(name string) { told = append(told, name) }
	res, err := b.runner.Run(b.ctx, j)
	if err != nil || !res.Passed {
		t.Fatalf("%+v, %v", res, err)
	}
	if want := "test|test again, with 3 GiB of memory instead of 1536.0 MiB"; strings.Join(told, "|") != want {
		t.Errorf("told %q, want %q", told, want)
	}
	if got := b.runner.LimitsByProject.Of(b.mirror.Dir()).MemoryBytes; got != 6*half {
		t.Errorf("the next container gets %d", got)
	}
	if got := b.runner.LimitsByProject.Of("another").MemoryBytes; got != 3*half {
		t.Errorf("another project's gets %d", got)
	}

	b.runner.LimitsByProject = container.NewSizes(b.runner.Limits, 0)
	before := len(b.rt.specs)
	_, err = b.runner.Run(b.ctx, b.job("", needs))
	var e *company.Error
	if !errors.As(err, &e) || e.Code != company.EGates || e.Class != company.HumanRequired ||
		!strings.Contains(e.Hint, "workers.memory") || !strings.Contains(e.Message, "1536.0 MiB") {
		t.Errorf("at the limit: %+v", err)
	}
	if n := len(b.rt.specs) - before; n != 1 {
		t.Errorf("%d containers for the same end", n)
	}
}

// fullDisk keeps nothing.
type fullDisk struct{ gates.Blobs }

func (fullDisk) PutBlob(context.Context, []byte) (company.Hash, error) {
	return "", errors.New("disk full")
}

// The write of the tree into a real container fails on the host: no verdict, and the
// container is gone.
func TestTreeThatWasNotSent(t *testing.T) {
	t.Parallel()
	b := setup(t, nil).withDocker()
	b.runner.Runtime = fullPipes{b.rt}
	for _, base := range []bool{false, true} {
		j := b.job("true", "true")
		j.Baseline = base
		if res, err := b.runner.Run(b.ctx, j); err == nil || !strings.Contains(err.Error(), "no space left on device") {
			t.Errorf("base %v: %+v, %v", base, res, err)
		}
	}
}

// fullPipes is a runtime whose host has no room for what containers are to read.
type fullPipes struct{ container.Runtime }

func (f fullPipes) Start(ctx context.Context, s container.Spec) (container.Container, error) {
	box, err := f.Runtime.Start(ctx, s)
	if err != nil {
		return nil, err
	}
	return fullPipeContainer{box}, nil
}

type fullPipeContainer struct{ container.Container }

func (c fullPipeContainer) Pipe() io.ReadWriteCloser { return &fullPipe{c.Container.Pipe()} }

// fullPipe takes 600 bytes, and fails from there on.
type fullPipe struct{ io.ReadWriteCloser }

func (p *fullPipe) Write(text []byte) (int, error) {
	n, err := p.ReadWriteCloser.Write(text[:min(600, len(text))])
	return n, cmp.Or(err, error(syscall.ENOSPC))
}

func (p *fullPipe) CloseWrite() error {
	return p.ReadWriteCloser.(interface{ CloseWrite() error }).CloseWrite()
}
