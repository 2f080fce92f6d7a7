package image

import (
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/ecosystem"
	"company/internal/lib/hosttest"
)

// A step that runs out of memory is told, and runs once more with twice as much; the
// project's next layer begins with that. One that needs more than there is ends in one
// error, and a step that may fail keeps what was made.
func TestBuildMemoryGrows(t *testing.T) {
	hosttest.Long(t, "one of many kinds of images")
	be := newTestBuilder(t)
	base := be.mustEnsure(t, Request{})
	be.sizes = container.NewSizes(container.Limits{MemoryBytes: 128 * container.MiB}, 256*container.MiB)
	run := func(project, mib, excuse string) error {
		in := ecosystem.Install{
			Steps: []ecosystem.Step{{Progress: "filling " + mib + " MiB", Failure: "it cannot be filled", Fix: "fill less",
				Command: "head -c " + mib + "000000 /dev/zero | tail -c " + mib + "000000 >/dev/null"}}}
		if excuse != "" {
			in.Steps[0].Excuse = func(int) string { return excuse }
		}
		return be.runInstall(newContext(t), installJob{
			name: "memory-" + strings.ToLower(t.Name()), image: base.ID, project: project, timeout: time.Minute,
			work: func(h *buildSession) error { return be.runSteps(t.Context(), in, h.runStep) },
		}, t.TempDir())
	}
	if err := run("p", "150", ""); err != nil {
		t.Fatalf("with twice the memory: %v", err)
	}
	if n := be.countProgress("filling 150 MiB again, with 256.0 MiB of memory instead of 128.0 MiB"); n != 1 {
		t.Errorf("told %d times", n)
	}
	if err := run("p", "140", ""); err != nil || be.countProgress("filling 140 MiB again") != 0 {
		t.Errorf("the same project again: %v", err)
	}
	err := run("p", "900", "")
	if !company.NeedsPerson(err) || be.countProgress("filling 900 MiB again") != 0 {
		t.Errorf("told of another try: %v", err)
	}
	checkScreen(t, "a-step-needs-more-memory-than-there-is", err)
	if err := run("q", "900", "it does without"); err != nil ||
		be.countProgress("filling 900 MiB again, with 256.0 MiB") != 1 || be.countProgress("it does without") != 2 {
		t.Errorf("with an excuse: %v", err)
	}
}

// The size of the base sets the room and the time of its builds.
func TestBuildsFitTheTree(t *testing.T) {
	repo := newProject(t).commit(map[string]string{"a": strings.Repeat("x", 1000), "b/c": strings.Repeat("y", 24)})
	if size, err := treeSize(t.Context(), *repo); err != nil || size != 1024 {
		t.Errorf("%d bytes, %v", size, err)
	}
	b, err := New(Config{CacheDir: t.TempDir(), MaxMemory: 64 * container.GiB})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	b.learnSize(t.Context(), Request{Repo: repo})
	if l := b.sizes.Of(repo.MirrorDir); l.MemoryBytes != container.BuildMemory || l.LeastDisk != 0 ||
		scaleTime(time.Minute, l) != time.Minute {
		t.Errorf("a small tree: %+v", l)
	}
	b.sizes.Learn("large", container.NeedOfTree(2*container.GiB))
	l := b.sizes.Of("large")
	if l.MemoryBytes != 13*container.GiB || scaleTime(time.Minute, l) != 195*time.Second {
		t.Errorf("a large tree: %+v, %s", l, scaleTime(time.Minute, l))
	}
	b.sizes.Learn("huge", container.NeedOfTree(100*container.GiB))
	if l := b.sizes.Of("huge"); scaleTime(time.Minute, l) != 4*time.Minute {
		t.Errorf("a huge tree: %+v, %s", l, scaleTime(time.Minute, l))
	}
}

// What a container had too little of is told by its end and its output; work that
// ended well had enough.
func TestFindShortage(t *testing.T) {
	killed, ended := container.Exit{Code: 137, OOMKilled: true}, container.Exit{Code: 137}
	for name, c := range map[string]struct {
		session buildSession
		err     error
		exit    container.Exit
		want    shortage
	}{
		"all is well":                  {buildSession{}, nil, container.Exit{}, noShortage},
		"a process died, others do":    {buildSession{}, nil, killed, noShortage},
		"a step with an excuse":        {buildSession{failed: true}, nil, killed, outOfMemory},
		"a step failed":                {buildSession{failed: true}, errContainerGone, killed, outOfMemory},
		"a step failed by itself":      {buildSession{failed: true}, errContainerGone, ended, noShortage},
		"the container was killed":     {buildSession{}, errContainerGone, killed, outOfMemory},
		"a device is full":             {buildSession{failed: true, diskFull: true}, errContainerGone, ended, outOfStorage},
		"memory comes before a device": {buildSession{failed: true, diskFull: true}, errContainerGone, killed, outOfMemory},
	} {
		if got := findShortage(&c.session, c.err, c.exit); got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}

// Programs tell of a full device in their own words.
func TestFullDevice(t *testing.T) {
	for text, want := range map[string]bool{
		"tar: x: Cannot write: No space left on device": true, "npm error code ENOSPC": true,
		"zero:  write error (disk full?).  Continue? (y/n/^C)": true, "the disk is full of errors": false,
	} {
		if isDiskFull(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
