package container_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"company/internal/company"
	"company/internal/container"
)

func goodSpec() container.Spec {
	l := container.Labels{Office: "k3fq", Run: "t12-03.2", Epoch: 7, Role: "worker"}
	return container.Spec{
		Name: l.Name(), Image: "sha256:" + strings.Repeat("0a", 32), Labels: l,
		Command: []string{"/usr/local/bin/toolbox", "serve"}, Env: []string{"A=b", "EMPTY="},
	}
}

// Feature: containers, Property 1: Labels Round-Trip
//
// Labels read back as they were written, so that what is left is found (CTR-5).
func TestLabels(t *testing.T) {
	l := goodSpec().Labels
	if got := l.Name(); got != "company-k3fq-t12-03.2-7" {
		t.Errorf("name %s", got)
	}
	if got := l.Name("gate", "1"); got != "company-k3fq-t12-03.2-7-gate-1" {
		t.Errorf("name %s", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9_.-]{0,20}`)
		l := container.Labels{Office: word.Draw(t, "office"), Run: word.Draw(t, "run"),
			Epoch: rapid.Uint64().Draw(t, "epoch"), Role: word.Draw(t, "role")}
		if back, ok := container.ParseLabels(l.Map()); !ok || back != l {
			t.Fatalf("%+v came back as %+v, %v", l, back, ok)
		}
	})
	if back, ok := container.ParseLabels(container.BuildLabels.Map()); !ok || back != container.BuildLabels {
		t.Errorf("a build's came back as %+v, %v", back, ok)
	}
	for name, change := range map[string]func(map[string]string){
		"no office":    func(m map[string]string) { delete(m, container.LabelOffice) },
		"no run":       func(m map[string]string) { delete(m, container.LabelRun) },
		"no epoch":     func(m map[string]string) { delete(m, container.LabelEpoch) },
		"no role":      func(m map[string]string) { delete(m, container.LabelRole) },
		"empty role":   func(m map[string]string) { m[container.LabelRole] = "" },
		"minus":        func(m map[string]string) { m[container.LabelEpoch] = "-1" },
		"plus":         func(m map[string]string) { m[container.LabelEpoch] = "+7" },
		"leading zero": func(m map[string]string) { m[container.LabelEpoch] = "07" },
		"space":        func(m map[string]string) { m[container.LabelRun] = "a b" },
	} {
		m := l.Map()
		change(m)
		if _, ok := container.ParseLabels(m); ok {
			t.Errorf("%s: taken for ours", name)
		}
	}
}

func TestSpecValidate(t *testing.T) {
	if err := goodSpec().Validate(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*container.Spec){
		"no name":          func(s *container.Spec) { s.Name = "" },
		"foreign name":     func(s *container.Spec) { s.Name = "postgres" },
		"name with slash":  func(s *container.Spec) { s.Name = "company-a/b" },
		"tag":              func(s *container.Spec) { s.Image = "golang:1.26" },
		"digest reference": func(s *container.Spec) { s.Image = "golang@sha256:" + strings.Repeat("0a", 32) },
		"short id":         func(s *container.Spec) { s.Image = "sha256:0a0a" },
		"no command":       func(s *container.Spec) { s.Command = nil },
		"relative command": func(s *container.Spec) { s.Command = []string{"toolbox"} },
		"NUL in command":   func(s *container.Spec) { s.Command = []string{"/x", "a\x00b"} },
		"NUL in env":       func(s *container.Spec) { s.Env = []string{"A=\x00"} },
		"env without =":    func(s *container.Spec) { s.Env = []string{"HOME"} },
		"env bad key":      func(s *container.Spec) { s.Env = []string{"1A=b"} },
		"no office":        func(s *container.Spec) { s.Labels.Office = "" },
		"no run":           func(s *container.Spec) { s.Labels.Run = "" },
		"no role":          func(s *container.Spec) { s.Labels.Role = "" },
		"negative memory":  func(s *container.Spec) { s.Limits.MemoryBytes = -1 },
		"negative pids":    func(s *container.Spec) { s.Limits.Pids = -1 }, // -1 is "unlimited" to the daemon
		"negative disk":    func(s *container.Spec) { s.Limits.DiskBytes = -1 },
		"negative cpus":    func(s *container.Spec) { s.Limits.CPUs = -0.5 },
		"no such profile":  func(s *container.Spec) { s.Profile = "x" },
		"half a build":     func(s *container.Spec) { s.Profile = container.BuildRoot },
		"build's labels":   func(s *container.Spec) { s.Labels = container.BuildLabels },
		"build with env":   func(s *container.Spec) { s.Profile, s.Labels = container.Build, container.BuildLabels },
		"files for work":   func(s *container.Spec) { s.Files = strings.NewReader("") },
		"build with limits": func(s *container.Spec) {
			s.Profile, s.Labels, s.Env, s.Limits.CPUs = container.Build, container.BuildLabels, nil, 1
		},
	} {
		s := goodSpec()
		change(&s)
		if err := s.Validate(); company.CodeOf(err) != company.EInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := goodSpec()
	s.Env = []string{"secret value without a key"}
	if err := s.Validate(); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("the error shows the value: %v", err)
	}
}

func TestDefaultWorkspace(t *testing.T) { // the sizes that were tried
	w, err := container.PlanWorkspace(container.Limits{}, false)
	want := container.Workspace{Mode: container.ModeTmpfs, Work: 2 * container.GiB, Tmp: 512 * container.MiB,
		Home: 448 * container.MiB, Shm: 64 * container.MiB}
	if err != nil || w != want {
		t.Errorf("%+v, %v, want %+v", w, err, want)
	}
	w, err = container.PlanWorkspace(container.Limits{}, true)
	if err != nil || w.Mode != container.ModeStorageOpt || w.Layer != 10*container.GiB {
		t.Errorf("%+v, %v", w, err)
	}
}

// Feature: containers, Property 2: Workspace Fits Its Limits
//
// Whatever the limits, tmpfs leaves 1 GiB of memory to processes, every part
// is of use, and what was asked for is given or refused (CTR-7).
func TestWorkspaceFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := container.Limits{
			MemoryBytes: rapid.Int64Range(1, 64*container.GiB).Draw(t, "memory"),
			DiskBytes:   rapid.Int64Range(0, 64*container.GiB).Draw(t, "disk"),
		}
		w, err := container.PlanWorkspace(l, false)
		if err != nil {
			if company.CodeOf(err) != company.EDocker {
				t.Fatalf("%v", err)
			}
			if l.DiskBytes == 0 && l.MemoryBytes >= 3*container.GiB/2 {
				t.Fatalf("refused to fit by itself: %v", err)
			}
			return
		}
		if sum := w.Work + w.Tmp + w.Home + w.Shm; sum > l.MemoryBytes-container.GiB {
			t.Fatalf("%+v takes %d of %d", w, sum, l.MemoryBytes)
		}
		if w.Work > l.MemoryBytes/2 || min(w.Work, w.Tmp, w.Home, w.Shm) < 32*container.MiB {
			t.Fatalf("%+v of %d", w, l.MemoryBytes)
		}
		if l.DiskBytes != 0 && w.Work != l.DiskBytes {
			t.Fatalf("%+v for %d", w, l.DiskBytes)
		}
	})
}

func TestWorkspaceRefusal(t *testing.T) {
	_, err := container.PlanWorkspace(container.Limits{DiskBytes: 10 * container.GiB}, false)
	var e *company.Error
	if !errors.As(err, &e) || e.Code != company.EDocker || e.Hint == "" ||
		e.Message != "this host cannot limit a work space to 10 GiB with 4 GiB of memory" {
		t.Errorf("%v", err)
	}
}

func TestLimitsDefaults(t *testing.T) { // CTR-7
	if got, want := (container.Limits{}).WithDefaults(),
		(container.Limits{MemoryBytes: 4 << 30, CPUs: 2, Pids: 512}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// What a project needs holds for it alone, grows as far as the host has it, and
// never falls below what everybody gets.
func TestSizes(t *testing.T) {
	const gib = container.GiB
	s := container.NewSizes(container.Limits{}, 12*gib)
	s.Learn("large", container.NeedOfTree(gib)) // 3.5 GiB of room
	l := s.Of("large")
	if l.LeastDisk != 7*gib/2 || l.MemoryBytes != 7*gib || s.Of("small") != (container.Limits{}).WithDefaults() {
		t.Errorf("%+v, and another project %+v", l, s.Of("small"))
	}
	if n := s.Beyond(l); n != (container.Need{Memory: 7 * gib, Disk: 7 * gib / 2}) ||
		s.Beyond(s.Of("small")) != (container.Need{}) {
		t.Errorf("beyond: %+v, %+v", n, s.Beyond(s.Of("small")))
	}
	w, err := container.PlanWorkspace(l, false)
	if err != nil || w.Work != 7*gib/2 || min(w.Tmp, w.Home) < container.GiB/2 {
		t.Errorf("in memory: %+v, %v", w, err)
	}
	if w, err = container.PlanWorkspace(l, true); err != nil || w.Layer != 10*gib {
		t.Errorf("on the disk: %+v, %v", w, err)
	}
	if l, ok := s.GrowDisk("large", l); !ok || l.LeastDisk != 6*gib || l.MemoryBytes != 12*gib {
		t.Errorf("all that there is: %+v, %v", l, ok)
	}
	if l, ok := s.GrowDisk("large", s.Of("large")); ok {
		t.Errorf("more than there is: %+v", l)
	}
	if l, ok := s.GrowDisk("small", s.Of("small")); !ok || l.LeastDisk != 4*gib || l.MemoryBytes != 8*gib {
		t.Errorf("the first time: %+v, %v", l, ok)
	}
	if s.Learn("tiny", container.NeedOfTree(1)); s.Of("tiny").MemoryBytes != container.DefaultMemory {
		t.Errorf("a small tree: %+v", s.Of("tiny"))
	}

	held := container.NewSizes(container.Limits{DiskBytes: gib}, 12*gib)
	held.Learn("large", container.NeedOfTree(4*gib))
	if l, ok := held.GrowDisk("large", held.Of("large")); ok || l != held.Of("another") {
		t.Errorf("the config gives the size: %+v, %v", l, ok)
	}
}

// A name of a host stands for 127.0.0.1 in a container only where no public name could
// be meant: the label of an image is read with that in mind.
func TestParseHosts(t *testing.T) {
	if got := container.ParseHosts(
		"db main_db-1 registry.npmjs.org localhost company DB x:1.2.3.4 127 -a b- " + strings.Repeat("n ", 40)); strings.Join(
		got[:3], " ") != "db main_db-1 n" || len(got) != 16 {
		t.Errorf("%q", got)
	}
	s := goodSpec()
	for _, hosts := range [][]string{{"a.b"}, {"db:10.0.0.1"}, {"localhost"}, strings.Fields(strings.Repeat("n ", 17))} {
		s.Hosts = hosts
		if company.CodeOf(s.Validate()) != company.EInvalid {
			t.Errorf("%q is let", hosts)
		}
	}
}

// A build has what is asked for, or the usual; its work space grows with it.
func TestBuildLimits(t *testing.T) {
	gib := container.GiB
	for _, c := range []struct {
		limits                  container.Limits
		memory, work, tmp, file int64
	}{
		{container.Limits{}, 7 * gib, 2 * gib, 3 * gib, 4 * gib},
		{container.Limits{MemoryBytes: 14 * gib}, 14 * gib, 4 * gib, 6 * gib, 4 * gib},
		{container.Limits{MemoryBytes: 12 * gib, LeastDisk: 6 * gib}, 12 * gib, 6 * gib, 5 * gib, 6 * gib},
		{container.Limits{MemoryBytes: 7 * container.MiB, LeastDisk: gib}, 7 * container.MiB, 7 * container.MiB / 2,
			32 * container.MiB, 4 * gib},
	} {
		s := goodSpec()
		s.Profile, s.Labels, s.Limits, s.Env = container.Build, container.BuildLabels, c.limits, nil
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		got, w, err := s.Plan(2, false)
		if err != nil || got.Limits != (container.Limits{MemoryBytes: c.memory, Pids: 2048}) || w.Work != c.work ||
			w.Tmp != c.tmp || w.File != c.file {
			t.Errorf("%+v: %+v, %+v, %v", c.limits, got.Limits, w, err)
		}
	}
}
