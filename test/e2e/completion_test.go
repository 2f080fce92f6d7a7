package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"company/test/testenv"
)

// completeWords has a real bash complete the words: those before the cursor, the
// last of which is being typed. It gives what bash would offer.
func completeWords(t testing.TB, h *testenv.House, words ...string) []string {
	t.Helper()
	bin := filepath.Join(h.Dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	_ = os.Symlink(h.Bin, filepath.Join(bin, "company")) // it may be there already
	// Bash itself runs the function that the script has registered for the word
	// company; it prints what would be offered.
	const script = `source <(company completion bash) || exit 1
compopt() { :; } # it only works while the line editor asks
fn=$(complete -p company); fn=${fn#*-F }; fn=${fn%% *}
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_TYPE=9
COMP_POINT=${#COMP_LINE}
"$fn" company "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\n' "${COMPREPLY[@]}"`
	cmd := exec.Command("bash", append([]string{"--norc", "-c", script, "bash", "company"}, words...)...)
	cmd.Dir, cmd.Env = h.Repo, append(slices.Clone(h.Env), "PATH="+bin+":"+os.Getenv("PATH"))
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || errs.Len() > 0 {
		t.Fatalf("completing %q: %v\n%s", words, err, errs.String())
	}
	var offered []string
	for l := range strings.Lines(string(out)) {
		word, _, _ := strings.Cut(strings.TrimSpace(l), " ")
		if word != "" {
			offered = append(offered, word)
		}
	}
	return offered
}

// TestCompletion: bash completes commands, flags and the ids of the office,
// while a company works there and while none does; when the one that works
// does not answer, it offers nothing, soon and without a word.
func TestCompletion(t *testing.T) {
	t.Parallel()
	h, p, held := atWork(t)
	for _, c := range []struct {
		words string // the last one is being typed
		want  string
	}{
		{"pau", "pause"},
		{"submit --dry", "--dry-run"},
		{"completion ", "bash fish zsh"},
		{"status -o ", "json text"},
		{"status --output = j", "json"}, // bash cuts words at =
		{"pause ", "t1 t1-01"},
		{"show t1-0", "t1-01 t1-01.1"},
		{"fire w", "w1 w2 w3"},
		{"submit --project re", "repo"},
		{"approve ", ""},
	} {
		got := completeWords(t, h, strings.Split(c.words, " ")...)
		slices.Sort(got)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q: %q, want %q", c.words, got, c.want)
		}
	}
	if err := syscall.Kill(p.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(p.PID(), syscall.SIGCONT) })
	if got := completeWords(t, h, "pause", ""); len(got) > 0 {
		t.Errorf("offered by nobody: %q", got)
	}
	if err := syscall.Kill(p.PID(), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	held.release()
	waitForSummary(t, p, 0)
	if got := completeWords(t, h, "pr", "show", ""); !slices.Equal(got, []string{"1"}) {
		t.Errorf("nobody works: %q", got)
	}
}
