package e2e

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"company/internal/adapters/scripted"
	"company/test/testenv"
)

// TestMasks: a key in the instruction, a token in a file of the repository and a password in what a command prints. The
// model never gets the first two, no file of the office has them as they are, and no surface shows any of the three (LOG-5 to LOG-8,
// ADP-11). Commands that destroy are refused (APR-10), and so are a file with secrets (APR-11) and a program that
// workers.commands does not name (X43).
func TestMasks(t *testing.T) {
	t.Parallel()
	key := "sk-" + strings.Repeat("aB3x", 8)
	token := "ghp_" + strings.Repeat("c4D5", 9)
	const password = "hunter2hunter2"
	files := tinyProject()
	files["deploy.sh"] = "echo deploying\nTOKEN=" + token + " ./upload\n"
	files[".gitignore"] = ".env\n"
	var mu sync.Mutex
	var sent []string
	var answers []string
	works := replyInSteps(
		call("read_file", m{"path": "deploy.sh"}),
		call("write_file", m{"path": "deploy.sh", "content": "TOKEN=[MASKED:GENERIC_SECRET] ./upload\n"}),
		call("run_command", m{"command": "echo '{\"password\": \"" + password + "\"}'; echo A=b >other"}),
		call("run_command", m{"command": "rm -rf other"}),
		call("run_command", m{"command": "rm other; echo A=b >.env"}),
		call("run_command", m{"command": "cat deploy.sh; grep -rn upload ."}),
		call("write_file", m{"path": "farewell.sh", "content": "echo goodbye\n"}),
		call("write_file", m{"path": "checks/farewell.sh", "content": "test \"$(sh farewell.sh)\" = goodbye\n"}),
		call("git_commit", m{"message": "Add a farewell"}),
		call("finish", m{"summary": "There is a farewell"}),
	)
	brain := &staff{manager: submitPlan(farewellTicket()), worker: func(x scripted.Exchange) scripted.Reply {
		mu.Lock()
		defer mu.Unlock()
		answers = slices.Concat(x.Results("read_file"), x.Results("write_file"), x.Results("run_command"))
		return works(x)
	}}
	h := testenv.New(t, scripted.BrainFunc(func(x scripted.Exchange) scripted.Reply {
		mu.Lock()
		for _, message := range x.Messages {
			sent = append(sent, message.Content)
		}
		mu.Unlock()
		return brain.Reply(x)
	}), files)
	h.Config(tinyGates + "workers: {commands: [rm, cat]}\n")
	waitForSummary(t, h.Start("submit", "say goodbye; the key is "+key), 0)
	mu.Lock()
	defer mu.Unlock()
	all := strings.Join(sent, "\n")
	if strings.Contains(all, key) || strings.Contains(all, token) {
		t.Error("a model was sent a secret")
	}
	if !strings.Contains(all, "the key is [MASKED:OPENAI_KEY]") {
		t.Error("a model was not told that there is a key")
	}
	for i, want := range []string{"TOKEN=[MASKED:GENERIC_SECRET] ./upload", "stands for a secret that you were not shown", "",
		"", password, "destructive_command_blocked: rm -rf", "secret_access_blocked: .env",
		"command_not_in_allowlist: it starts grep"} {
		if i >= len(answers) || !strings.Contains(answers[i], want) {
			t.Errorf("answer %d lacks %q: %q", i, want, answers)
		}
	}
	shown := ""
	for _, command := range [][]string{{"show", "t1"}, {"logs", "t1-01", "--full", "-v"},
		{"logs", "t1-01", "--full", "-o", "json"}, {"feed", "t1"},
		{"status"}, {"feed", "t1", "-o", "json"}} {
		shown += h.MustRun(patience, command...).Stdout
	}
	for _, secret := range []string{key, token, password} {
		if strings.Contains(shown, secret) {
			t.Errorf("%.4s… is shown", secret)
		}
	}
	if !strings.Contains(shown, `[MASKED:JSON_CREDENTIAL]`) || !strings.Contains(shown, "[MASKED:OPENAI_KEY]") {
		t.Errorf("nothing is masked:\n%s", shown)
	}
	for _, dir := range []string{h.State(), filepath.Join(h.Repo, ".company")} {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(path)
			if bytes.Contains(text, []byte(key)) || bytes.Contains(text, []byte(token)) {
				t.Errorf("%s has a secret", path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
