package cli

import (
	"bytes"
	"os"
	"path/filepath"
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

// The fix of doctor for a missing model works as it stands: the key is then all that is missing, and doctor names its
// variable. An address that nobody answers at is named with the file and line that set it.
func TestDoctorAdviceWorks(t *testing.T) {
	home, repo := t.TempDir(), configtest.Repo(t, nil)
	vars := map[string]string{"HOME": home, "PATH": os.Getenv("PATH"), "OLLAMA_HOST": "127.0.0.1:9"}
	run := func(args ...string) string {
		var out bytes.Buffer
		lookup := func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
		execute(t.Context(), command.NewEnvironment(terminalio.Console{In: strings.NewReader(""), Out: &out, Err: &out,
			LookupEnv: lookup}), append(args, "--repo", repo))
		return out.String()
	}
	text := run("doctor")
	_, advice, ok := strings.Cut(text, "company config set --user models.default '")
	value, _, _ := strings.Cut(advice, "'")
	if !ok {
		t.Fatalf("doctor says:\n%s", text)
	}
	set := run("config", "set", "--user", "models.default", value)
	if text := run("doctor"); strings.Count(text, "OPENAI_API_KEY") != 2 ||
		!strings.Contains(text, "fix:    export OPENAI_API_KEY=") {
		t.Errorf("doctor says:\n%s\nafter\n%s", text, set)
	}
	vars["OPENAI_API_KEY"] = "sk-1"
	run("config", "set", "--user", "models.default.base_url", "http://127.0.0.1:9/v1")
	file := filepath.Join(home, ".config", "company", "config.yaml")
	if text := run("doctor"); !strings.Contains(text, "base_url ("+file+":3) is right") {
		t.Errorf("doctor says:\n%s", text)
	}
}
