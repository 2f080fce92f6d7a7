package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/office/config"
	"company/internal/surface/cli/command"
	"company/internal/surface/terminalio"
	"company/internal/surface/terminalio/terminaltest"
)

// At a terminal the president is shown what would count, and is asked; only a
// yes lets it count. What is shown comes from the repository, and steers no
// terminal (T18).
func TestTrustPrompt(t *testing.T) {
	for answer, want := range map[string]struct {
		exit    int
		trusted bool
	}{"y\n": {0, true}, "Yes\n": {0, true}, "n\n": {1, false}, "\n": {1, false}, "yess\n": {1, false},
		"\x04": {1, false}} {
		t.Run(fmt.Sprintf("%q", answer), func(t *testing.T) {
			work := t.TempDir()
			repo := filepath.Join(work, "repo")
			if err := os.Mkdir(repo, 0o755); err != nil {
				t.Fatal(err)
			}
			writeConfig(t, filepath.Join(repo, "company.yaml"),
				"budget: {usd: 500}\nagents: {worker: {persona: \"obey\\nme \\u202e\"}}\n")
			shellPrep("git init -q -b main . && git add -A && git commit -q -m first")(t, repo)
			vars := map[string]string{"HOME": work}
			lookup := func(k string) (string, bool) { v, ok := vars[k]; return v, ok }
			person, program := terminaltest.OpenPTY(t)
			var screen bytes.Buffer
			read := make(chan struct{})
			go func() { // it ends when the program's end is closed
				defer close(read)
				buf := make([]byte, 4096)
				for typed := false; ; {
					n, err := person.Read(buf)
					screen.Write(buf[:n])
					if !typed && strings.Contains(screen.String(), "> ") {
						typed = true
						_, err = io.WriteString(person, answer)
					}
					if err != nil {
						return
					}
				}
			}()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			env := command.NewEnvironment(terminalio.Console{In: program, Out: io.Discard, Err: program, LookupEnv: lookup})
			exit := execute(ctx, env, []string{"trust", "--office", repo})
			if err := program.Close(); err != nil {
				t.Fatal(err)
			}
			<-read
			if exit != want.exit {
				t.Errorf("exit %d, want %d", exit, want.exit)
			}
			for _, words := range []string{"budget.usd", "500", "(now: 5)", "agents.worker.persona", "trust this? [y/N]>"} {
				if !strings.Contains(screen.String(), words) {
					t.Errorf("the screen lacks %q:\n%s", words, screen.String())
				}
			}
			if strings.Contains(screen.String(), "\u202e") {
				t.Errorf("the screen is steered: %q", screen.String())
			}
			paths := command.NewEnvironment(terminalio.Console{LookupEnv: lookup, Out: io.Discard, Err: io.Discard})
			paths.OfficeDir = repo
			p, err := paths.FindOffice()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := paths.LoadConfig(t.Context(), p); (err == nil) != want.trusted ||
				!want.trusted && company.CodeOf(err) != company.EConfig {
				t.Errorf("it counts: %v (%v)", err == nil, err)
			}
		})
	}
}

// company trust --logins is about the checkout one stands in: it says whose
// logins, asks, and lets nothing else count.
func TestTrustLogins(t *testing.T) {
	work := t.TempDir()
	repo := filepath.Join(work, "repo")
	writeConfig(t, filepath.Join(repo, "company.yaml"), "budget: {usd: 500}\n")
	shellPrep("git init -q -b main . && git add -A && git commit -q -m first")(t, repo)
	t.Setenv("HOME", work)
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("GOPRIVATE", "corp.example/*")
	writeConfig(t, filepath.Join(work, ".npmrc"),
		"@corp:registry=https://npm.corp.example/\n//npm.corp.example/:_authToken=sesame\n")
	vars := map[string]string{"HOME": work}
	lookup := func(k string) (string, bool) { v, ok := vars[k]; return v, ok }
	run := func(args ...string) (int, string) {
		var out, errs bytes.Buffer
		env := command.NewEnvironment(terminalio.Console{In: strings.NewReader(""), Out: &out, Err: &errs, LookupEnv: lookup})
		exit := execute(t.Context(), env, append([]string{"trust", "--logins", "--repo", repo}, args...))
		return exit, out.String() + errs.String()
	}
	trust := config.OpenTrust(lookup)
	exit, said := run()
	if exit == 0 || trust.MayUseLogins(t.Context(), repo) || !strings.Contains(said, "company trust --logins --yes") {
		t.Errorf("unasked: %d\n%s", exit, said)
	}
	for _, words := range []string{"your logins at: npm.corp.example", "that you call private: corp.example/*"} {
		if !strings.Contains(said, words) {
			t.Errorf("it does not say %q:\n%s", words, said)
		}
	}
	if exit, said = run("--yes"); exit != 0 || !trust.MayUseLogins(t.Context(), repo) || strings.Contains(said, "sesame") {
		t.Errorf("with a yes: %d\n%s", exit, said)
	}
	if exit, said = run("-o", "json"); exit != 0 || !strings.Contains(said, `"was_trusted":true`) {
		t.Errorf("again: %d\n%s", exit, said)
	}
	// The company.yaml is still a stranger's.
	env := command.NewEnvironment(terminalio.Console{LookupEnv: lookup, Out: io.Discard, Err: io.Discard})
	env.RepoDir, env.OfficeDir = repo, repo
	p, err := env.FindOffice()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := env.LoadConfig(t.Context(), p); company.CodeOf(err) != company.EConfig {
		t.Errorf("the file counts: %v", err)
	}
}
