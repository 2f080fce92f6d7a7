package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/test/testenv"
)

// sampleForge is the folder of a new forge.
const sampleForge = `package sample

import (
	"context"

	"company/internal/forge"
)

const kind = "sample"

// Driver describes the sample.
var Driver = forge.Driver{Kind: kind, Name: "Sample", Home: "https://sample.example", User: "token",
	TokenEnvs: []string{"SAMPLE_TOKEN"},
	Open: func(o forge.Options) (forge.Forge, error) { return client{login: o.Login}, nil }}

type client struct {
	forge.Forge
	login func(context.Context) (forge.Credential, error)
}

func (client) Kind() string { return kind }

func (c client) Credential(ctx context.Context) (forge.Credential, error) { return c.login(ctx) }
`

// sampleBus is the folder of a new bus: the one on files by another name.
const sampleBus = `package samplebus

import (
	"company/internal/bus"
	"company/internal/bus/file"
)

// Driver describes the sample.
var Driver = bus.Driver{Name: "samplebus", Records: "samples", Open: file.Driver.Open}
`

// TestDriverIsAFolderAndALine: a forge and a bus of which only a folder and a line of the wiring are there are values of
// the config. The forge is chosen for a remote at its address, and finds its login. An office keeps its records on the
// bus.
func TestDriverIsAFolderAndALine(t *testing.T) {
	t.Parallel()
	root, err := testenv.Root()
	if err != nil {
		t.Fatal(err)
	}
	wiring, err := os.ReadFile(filepath.Join(root, "internal", "app", "drivers.go"))
	if err != nil {
		t.Fatal(err)
	}
	with := strings.NewReplacer("gitea.Driver}", "gitea.Driver, sample.Driver}", "file.Driver}",
		"file.Driver, samplebus.Driver}", `"company/internal/forge/local"`, `"company/internal/forge/local"
	"company/internal/forge/sample"
	"company/internal/bus/samplebus"`).Replace(string(wiring))
	h := testenv.New(t, nil, map[string]string{"README.md": "# Small\n"})
	h.Bin = buildWith(t, root, map[string]string{
		"internal/forge/sample/sample.go": sampleForge, "internal/bus/samplebus/bus.go": sampleBus,
		"internal/app/drivers.go": with,
	})
	h.Git(h.Repo, "remote", "set-url", "origin", "https://sample.example/acme/app.git")
	h.Env = append(h.Env, "SAMPLE_TOKEN=abc")
	h.MustRun(patience, "config", "set", "--user", "forge.kind", "sample")
	if refused := h.Run(patience, "config", "set", "--user", "forge.kind", "simple"); refused.Code == 0 ||
		!strings.Contains(refused.Stderr, "did you mean sample?") {
		t.Errorf("another kind: %s%s", refused.Stdout, refused.Stderr)
	}
	h.MustRun(patience, "config", "set", "--user", "bus.driver", "samplebus")
	h.MustRun(patience, "project", "list")
	if said := h.Run(patience, "doctor", "--all").Stdout; !strings.Contains(said, "sample acme/app, login from SAMPLE_TOKEN") {
		t.Errorf("doctor says\n%s", said)
	}
}

// buildWith builds the program with some files added or replaced, and returns its path.
func buildWith(t *testing.T, root string, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	replace := map[string]string{}
	for name, text := range files {
		file := filepath.Join(dir, strings.ReplaceAll(name, "/", "-"))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(root, name)] = file
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	listed := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(listed, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "company")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-overlay", listed, "-ldflags=-s -w", "-o", program,
		"./cmd/company")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}
