package golang

import (
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/ecosystemtest"
)

// TestCheckedPackages: what plain go commands name is compiled ahead, and all where a check
// may look at anything.
func TestCheckedPackages(t *testing.T) {
	for _, c := range []struct{ dir, commands, want string }{
		{".", "", "./..."},
		{".", "go test ./...", "./..."},
		{".", "go test ./internal/...", "./internal/..."},
		{".", "go vet ./cmd/a ./internal/... | go test -race -timeout 5m -run X ./internal/...",
			"./cmd/a/... ./internal/..."},
		{".", "go vet ./... | go test ./internal/...", "./..."},
		{".", "go test", "./..."},
		{".", "CGO_ENABLED=0 go test -count=1 ./a/", "./a/..."},
		{".", "go test ./internal/... && make lint", "./..."},
		{".", "make test | go test ./internal/...", "./..."},
		{".", "go test example.org/tool/a", "./..."},
		{".", "go test -C b ./a", "./..."},
		{".", "go test ../other", "./..."},
		{".", "go test ./a/../../b", "./..."},
		{"b", "go test ./internal/...", "./..."},
		{"b", "go test ./internal/... | b: go test ./x", "./x/..."},
	} {
		var checks []company.GateCommand
		for command := range strings.SplitSeq(c.commands, " | ") {
			if command == "" {
				continue
			}
			g := company.GateCommand{Command: command}
			if dir, rest, ok := strings.Cut(command, ": "); ok {
				g.Dir, g.Command = dir, rest
			}
			checks = append(checks, g)
		}
		if got := checkedPackages(checks, c.dir); got != c.want {
			t.Errorf("%s in %s: %s, not %s", c.commands, c.dir, got, c.want)
		}
	}
}

// TestCompiledLayerFollowsTheChecks: the layer compiles the packages that checks name and has
// its own key then; where they look at all, key and commands are those of before.
func TestCompiledLayerFollowsTheChecks(t *testing.T) {
	layer := func(command string) ecosystem.Install {
		s := &ecosystemtest.Sources{Texts: map[string]string{"go.mod": needs, "tools/go.mod": needs}}
		if command != "" {
			s.Gates = []company.GateCommand{{Name: "test", Command: command}}
		}
		all, err := Ecosystem{}.Installs(s)
		if err != nil {
			t.Fatal(err)
		}
		return all[slices.IndexFunc(all, func(in ecosystem.Install) bool { return in.Layer == "godeps" })]
	}
	unknown, whole, part, other := layer(""), layer("go test ./..."), layer("go test ./internal/..."),
		layer("go test ./cmd/...")
	if !slices.Equal(unknown.Inputs, whole.Inputs) || slices.Equal(whole.Inputs, part.Inputs) ||
		slices.Equal(part.Inputs, other.Inputs) {
		t.Errorf("the inputs are\n%q\n%q\n%q\n%q", unknown.Inputs, whole.Inputs, part.Inputs, other.Inputs)
	}
	if c := part.Steps[1].Command; !strings.Contains(c, `case "$d" in .) p="./internal/...";; *) p=./...;; esac`) {
		t.Error(c)
	}
	if c := whole.Steps[1].Command; !strings.Contains(c, `case "$d" in *) p=./...;; esac`) {
		t.Error(c)
	}
}
