package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/container"
	"company/internal/ecosystem"
	"company/internal/toolbox/toolproto"
)

// placeAll has a place for everything.
type placeAll struct{ seen *[]string }

func (c placeAll) Place(e ecosystem.Entry) (ecosystem.Entry, bool) {
	*c.seen = append(*c.seen, strings.TrimSpace(e.Path+" "+e.Link))
	return ecosystem.Entry{Path: path.Join("/opt/x", e.Path), Link: e.Link}, true
}

func (c placeAll) Files() []ecosystem.ImageFile { return nil }

// A layer is the same to the byte whether its client wrote into memory or onto the disk.
func TestMemoryAndDiskMakeOneLayer(t *testing.T) {
	be := newTestBuilder(t)
	base := be.mustEnsure(t, Request{})
	var seen []string
	in := ecosystem.Install{
		Layer: "twice", Stage: []ecosystem.StagedFile{{Path: "sub/staged", Text: []byte("staged")}, {Path: "top"}},
		Steps: []ecosystem.Step{{Dir: "sub", Failure: "it cannot be made", Command: `set -e
echo one >one; chmod 755 one; ln one two; ln -s ../top link; ln -s "$PWD/staged" absolute; mkdir -p a/b/c; : >a/empty; head -c 300000 /dev/urandom | head -c 0 >>a/empty
head -c 3000000 /dev/zero >large; mkfifo pipe; printf x >'a/odd name é'; rm -f pipe`}},
		Collector: func() ecosystem.Collector { return placeAll{&seen} },
	}
	made := map[bool]string{}
	var names []string
	for _, inMemory := range []bool{true, false} {
		be.memory = &container.MemoryBook{HasRoom: func(int64) bool { return inMemory }}
		work := filepath.Join(t.TempDir(), "twice")
		if err := os.Mkdir(work, 0o700); err != nil {
			t.Fatal(err)
		}
		l, err := newLayer(filepath.Join(work, "layer.tar"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(l.removeFile)
		seen = nil
		if err := be.fillInstall(in, nil, nil)(newContext(t), &existingImage{id: base.ID}, work, l); err != nil {
			t.Fatal(err)
		}
		for _, do := range l.rest {
			do()
		}
		if err := l.close(); err != nil {
			t.Fatal(err)
		}
		made[inMemory] = l.diffID
		names = append(names, strings.Join(seen, "\n"))
	}
	if made[true] != made[false] || names[0] != names[1] ||
		!strings.Contains(names[0], "sub/absolute /opt/out/sub/staged") {
		t.Errorf("in memory %s:\n%s\non the disk %s:\n%s", made[true], names[0], made[false], names[1])
	}
}

// What does not fit into memory is made on the disk, in a container of the same size.
// Where files could not be taken over, nothing is made twice.
func TestWhatDoesNotFitIntoMemory(t *testing.T) {
	be := newTestBuilder(t)
	base := be.mustEnsure(t, Request{})
	be.sizes = container.NewSizes(container.Limits{MemoryBytes: 256 * container.MiB}, 0)
	full := errors.New("the host's disk is full")
	for name, c := range map[string]struct {
		mib    string
		memory bool
		staged int   // MB of files that are there at the start
		lose   error // of the receiver
		want   string
	}{
		"it fits":            {"10", true, 1, nil, "received"},
		"it does not fit":    {"100", true, 1, nil, "collected"},
		"too much at first":  {"10", true, 200, nil, "collected"},
		"the host has none":  {"10", false, 1, nil, "collected"},
		"it cannot be taken": {"10", true, 1, full, "received"},
	} {
		t.Run(name, func(t *testing.T) {
			be.memory = &container.MemoryBook{HasRoom: func(bytes int64) bool { return c.memory && bytes == 256*container.MiB }}
			in := ecosystem.Install{
				Steps: []ecosystem.Step{{Dir: ".", Progress: "filling", Failure: "it cannot be filled",
					Command: "head -c " + c.mib + "000000 /dev/zero >file"}}}
			var got []string
			err := be.runInstall(newContext(t), installJob{
				name: "room-" + strings.ReplaceAll(name, " ", "-")[:6], image: base.ID, timeout: time.Minute,
				stageFiles: func(l *layer) error { return l.addBytes("opt/out/staged", 0o644, make([]byte, c.staged<<20)) },
				work:       func(h *buildSession) error { return be.runSteps(t.Context(), in, h.runStep) },
				collect:    func(context.Context, string) error { got = append(got, "collected"); return nil },
				receive: func(r io.Reader) error {
					got = append(got, "received")
					_, err := io.Copy(io.Discard, r)
					return errors.Join(err, c.lose)
				},
			}, t.TempDir())
			if strings.Join(got, " ") != c.want || !errors.Is(err, c.lose) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// A process that hides where it came from has ended before the files are sent: it could
// change them meanwhile.
func TestNothingRunsWhileFilesAreSent(t *testing.T) {
	be := newTestBuilder(t)
	base := be.mustEnsure(t, Request{})
	be.memory = &container.MemoryBook{HasRoom: func(int64) bool { return true }}
	hide := ecosystem.Step{Dir: ".", Failure: "it cannot hide",
		Command: `env -i /usr/bin/setsid /bin/sh -c 'echo $$ >pid; exec sleep 3600' >/dev/null 2>&1 &
until [ -s pid ]; do sleep 0.01; done`}
	var session *buildSession
	stillRuns := func() int {
		r, err := session.client.Run(newContext(t), toolproto.RunRequest{Command: "kill -0 $(cat pid)"})
		if err != nil {
			t.Error(err)
		}
		return r.ExitCode
	}
	var before, after int
	err := be.runInstall(newContext(t), installJob{
		name: "hidden", image: base.ID, timeout: time.Minute,
		work: func(h *buildSession) error {
			session = h
			_, err := h.runStep(hide)
			before = stillRuns()
			return err
		},
		receive: func(r io.Reader) error {
			after = stillRuns()
			_, err := io.Copy(io.Discard, r)
			return err
		},
	}, t.TempDir())
	if err != nil || before != 0 || after == 0 {
		t.Errorf("%v; it runs before: %d, after: %d", err, before, after)
	}
}

// Builds at work beside each other are not given the same memory.
func TestMemoryIsGivenOnce(t *testing.T) {
	const each = 256 * container.MiB
	b := &Builder{sizes: container.NewSizes(container.Limits{MemoryBytes: each}, 0)}
	var asked []int64
	b.memory = &container.MemoryBook{HasRoom: func(bytes int64) bool {
		asked = append(asked, bytes)
		if len(asked) == 1 { // another one, while this one goes on
			if err := b.tryInMemory(t.Context(), installJob{}, "", b.sizes.Of("")); !errors.Is(err, errNotInMemory) {
				t.Error(err)
			}
		}
		return false
	}}
	if err := b.tryInMemory(t.Context(), installJob{}, "", b.sizes.Of("")); !errors.Is(err, errNotInMemory) {
		t.Error(err)
	}
	if fmt.Sprint(asked) != fmt.Sprint([]int64{each, 2 * each}) || b.memory.Lent() != 0 {
		t.Errorf("asked for %d, %d is left given", asked, b.memory.Lent())
	}
}
