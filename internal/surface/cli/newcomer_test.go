package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"company/internal/office/config/configtest"
	"company/internal/surface/cli/command"
	"company/internal/surface/terminalio"
	"company/test/heldoffice"
)

// Commands that only read show an office whose config needs trust. Others refuse it.
func TestReadUntrustedOffice(t *testing.T) {
	o := heldoffice.Open(t)
	id := o.Submit("do it", o.Repo)
	o.Close()
	writeConfig(t, filepath.Join(o.Repo, "company.yaml"), "models: {default: {adapter: openai, model: gpt-5}}\n")
	for _, args := range [][]string{{"status"}, {"list"}, {"show", string(id)}, {"feed"}} {
		r := o.Run(t.Context(), execute, args...)
		if r.Code != 0 || !strings.Contains(r.Out, string(id)) || !strings.Contains(r.Err, "company config check") {
			t.Errorf("%v: %+v", args, r)
		}
	}
	r := o.Run(t.Context(), execute, "stop")
	if r.Code != 1 || !strings.Contains(r.Err, "needs your trust") {
		t.Errorf("stop: %+v", r)
	}
}

// newcomer is a person with an empty home, in a new repository.
type newcomer struct {
	repo string
	vars map[string]string
}

func newNewcomer(t *testing.T) newcomer {
	t.Helper()
	return newcomer{configtest.Repo(t, nil),
		map[string]string{"HOME": t.TempDir(), "PATH": os.Getenv("PATH"), "OLLAMA_HOST": "127.0.0.1:9"}}
}

// run runs a command line, and returns all that it prints.
func (n newcomer) run(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	lookup := func(name string) (string, bool) { v, ok := n.vars[name]; return v, ok }
	execute(t.Context(), command.NewEnvironment(terminalio.Console{In: strings.NewReader(""), Out: &out, Err: &out,
		LookupEnv: lookup}), append(args, "--repo", n.repo))
	return out.String()
}

// The fix of doctor for a missing model works as it stands: the key is then all that is missing, and doctor names its
// variable. If nobody answers at its address, doctor names the file and line that set it.
func TestDoctorAdviceWorks(t *testing.T) {
	n := newNewcomer(t)
	text := n.run(t, "doctor")
	_, advice, ok := strings.Cut(text, "company config set --user models.default '")
	value, _, _ := strings.Cut(advice, "'")
	if !ok {
		t.Fatalf("doctor says:\n%s", text)
	}
	set := n.run(t, "config", "set", "--user", "models.default", value)
	if text := n.run(t, "doctor"); strings.Count(text, "OPENAI_API_KEY") != 2 ||
		!strings.Contains(text, "fix:    export OPENAI_API_KEY=") {
		t.Errorf("doctor says:\n%s\nafter\n%s", text, set)
	}
	n.vars["OPENAI_API_KEY"] = "sk-1"
	n.run(t, "config", "set", "--user", "models.default.base_url", "http://127.0.0.1:9/v1")
	file := filepath.Join(n.vars["HOME"], ".config", "company", "config.yaml")
	if text := n.run(t, "doctor"); !strings.Contains(text, "its address is right ("+file+":3)") {
		t.Errorf("doctor says:\n%s", text)
	}
}

// Each command of the README that chooses a model does, and leaves at most a key or a server to be wished for.
func TestReadmeChoosesModel(t *testing.T) {
	text, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(text), "\n## Choose a model\n")
	part, _, _ = strings.Cut(part, "\n## ")
	line := regexp.MustCompile(
		`(?m)^company (config set --user models\.default) '(\{adapter: (\w+), model: "?([^",]+).*)'$`)
	commands := line.FindAllStringSubmatch(part, -1)
	if len(commands) < 4 {
		t.Fatalf("only %d commands are in the README", len(commands))
	}
	for _, words := range commands {
		n := newNewcomer(t)
		set := n.run(t, append(strings.Fields(words[1]), words[2])...)
		model := strings.TrimSuffix(words[4], "}")
		if text := n.run(t, "doctor"); !strings.Contains(text, ": "+words[3]+" "+model) ||
			!strings.Contains(text, " is NOT SET") && !strings.Contains(text, "connection refused") {
			t.Errorf("%s: doctor says:\n%s\nafter\n%s", words[0], text, set)
		}
	}
}
