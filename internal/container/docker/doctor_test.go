package docker

import (
	"slices"
	"testing"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/system"

	"company/internal/container"
)

func TestCheck(t *testing.T) {
	r := newRuntime(t)
	fs, err := r.Check(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fs {
		t.Logf("%-4s %s: %s %s", f.Level, f.Name, f.Value, f.Hint)
		if f.Value == "" || f.Level != container.OK && f.Hint == "" {
			t.Errorf("a fact that helps nobody: %+v", f)
		}
		if f.Level == container.Fail {
			t.Errorf("this host cannot run containers: %+v", f)
		}
	}
}

func TestFactsOfAPoorHost(t *testing.T) {
	fs := daemonFacts("unix:///x", "1.41", false, system.Info{Driver: "vfs", MemTotal: 1 << 30}, types.Version{})
	level := func(name string) container.Level {
		i := slices.IndexFunc(fs, func(f container.Fact) bool { return f.Name == name })
		if i < 0 {
			t.Fatalf("no fact %q", name)
		}
		return fs[i].Level
	}
	for name, want := range map[string]container.Level{
		"seccomp": container.Fail, "memory limit": container.Fail, "swap limit": container.Fail, "pids limit": container.Fail,
		"cpu limit": container.Fail, "runc": container.Warn, "work space": container.Warn, "docker": container.OK,
	} {
		if got := level(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestRuncFixed(t *testing.T) {
	for v, want := range map[string]bool{
		"1.1.5+ds1": false, "1.1.15": false, "1.2.7": false, "1.2.8": true, "v1.2.9": true, "1.3.0": false, "1.3.2": false,
		"1.3.3": true, "1.4.0-rc.2": false, "1.4.0-rc.3": true, "1.4.0": true, "1.5.1": true, "2.0.0": true,
		"1.0.0-rc.93": false,
		"1.3.3-rc.1":  false, "unknown": false, "": false,
	} {
		if got := runcFixed(v); got != want {
			t.Errorf("%q: %v", v, got)
		}
	}
}

func TestSizeOption(t *testing.T) {
	on := func(driver, fs string) bool {
		return sizeOption(system.Info{Driver: driver, DriverStatus: [][2]string{{"Backing Filesystem", fs}}})
	}
	if on("overlay2", "extfs") || !on("overlay2", "xfs") || !on("btrfs", "btrfs") || on("overlayfs", "xfs") ||
		on("vfs", "xfs") {
		t.Error("the wrong drivers have a size option")
	}
}
