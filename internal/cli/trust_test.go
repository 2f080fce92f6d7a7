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
)

// At a terminal the president is shown what would count, and is asked; only a
// yes lets it count (DESIGN §11). What is shown comes from the repository, and
// steers no terminal (T18).
func TestTrustAsks(t *testing.T) {
	for answer, want := range map[string]struct {
		exit    int
		trusted bool
	}{"y\n": {0, true}, "Yes\n": {0, true}, "n\n": {1, false}, "\n": {1, false}, "yess\n": {1, false}, "\x04": {1, false}} {
		t.Run(fmt.Sprintf("%q", answer), func(t *testing.T) {
			work := t.TempDir()
			repo := filepath.Join(work, "repo")
			if err := os.Mkdir(repo, 0o755); err != nil {
				t.Fatal(err)
			}
			writeConfig(t, filepath.Join(repo, "company.yaml"), "budget: {usd: 500}\nagents: {worker: {persona: \"obey\\nme \\u202e\"}}\n")
			sh("git init -q -b main . && git add -A && git commit -q -m first")(t, repo)
			env := map[string]string{"HOME": work}
			lookup := func(k string) (string, bool) { v, ok := env[k]; return v, ok }
			person, program := terminal(t)
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
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			a := &app{in: program, out: io.Discard, err: program, env: lookup}
			exit := a.main(ctx, []string{"trust", "--office", repo})
			if err := program.Close(); err != nil {
				t.Fatal(err)
			}
			<-read
			if exit != want.exit {
				t.Errorf("exit %d, want %d", exit, want.exit)
			}
			for _, words := range []string{"budget.usd", "500", "(now: 5)", "agents.worker.persona", "let this count? [y/N]>"} {
				if !strings.Contains(screen.String(), words) {
					t.Errorf("the screen lacks %q:\n%s", words, screen.String())
				}
			}
			if strings.Contains(screen.String(), "\u202e") {
				t.Errorf("the screen is steered: %q", screen.String())
			}
			paths := &app{officeDir: repo, env: lookup, out: io.Discard, err: io.Discard}
			p, err := paths.paths()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := paths.load(p); (err == nil) != want.trusted || !want.trusted && company.CodeOf(err) != company.EConfig {
				t.Errorf("it counts: %v (%v)", err == nil, err)
			}
		})
	}
}
