package toolserver

import (
	"strings"
	"testing"

	"company/internal/toolbox/toolproto"
)

// TestGitWorksForAgents: what agents ask git for in a shell works under the
// settings that the toolbox injects, and says what it says anywhere.
func TestGitWorksForAgents(t *testing.T) {
	origin, base := newOrigin(t)
	// What the image or a parent gives must not reach git either.
	b := newBench(t, func(c *Config) { c.Env = append(c.Env, "GIT_EXTERNAL_DIFF=touch ../canary") })
	b.prepare(t, origin, base)
	for _, c := range []struct {
		command string
		says    []string // of the output
	}{
		{"printf 'one\\n2\\n' > a.txt; git diff", []string{"diff --git a/a.txt b/a.txt", "-two", "+2"}},
		{"git diff --stat", []string{"a.txt | 2 +-"}},
		{"git diff HEAD -- a.txt", []string{"+2"}},
		{"git diff --word-diff", []string{"{+2+}"}},
		{"git status", []string{"modified:   a.txt"}},
		{"git stash && git status --short && git stash show -p && git stash pop",
			[]string{"Saved working directory", "+2", "Dropped refs/stash"}},
		{"git add a.txt && git diff --cached", []string{"+2"}},
		{"git commit -m second", []string{"1 file changed"}},
		{"git show", []string{"second", "+2"}},
		{"git show --stat HEAD", []string{"a.txt | 2 +-"}},
		{"git log -p", []string{"second", "+2", "base", "+two"}},
		{"git log --oneline --graph", []string{"* "}},
		{"git blame a.txt", []string{"(Agent", "2) 2"}},
		{"git grep -n two HEAD~1", []string{"HEAD~1:a.txt:2:two"}},
		{"git diff HEAD~1 HEAD", []string{"+2"}},
		{"git range-diff HEAD~1..HEAD HEAD~1..HEAD", []string{"= 1:"}},
		{"git format-patch --stdout -1", []string{"Subject: [PATCH] second", "+2"}},
		{"git branch side HEAD~1 && git branch -v", []string{"side"}},
		{"git worktree add ../side side && git worktree list", []string{"/side"}},
		{"git tag -m one v1 && git describe", []string{"v1"}},
		{"git -C ../side cherry-pick " + branch, []string{"second"}},
		{"git revert --no-edit HEAD && git reset --hard HEAD~1", []string{"Revert"}},
		{"git commit --amend", []string{"second"}}, // the message that is there
		{"printf 'one\\nthree\\n' > a.txt; git commit -qam third; git rebase --onto HEAD~2 HEAD~1 || { printf " +
			"'one\\nthree\\n' > a.txt; git add a.txt; git rebase --continue; }",
			[]string{"Successfully rebased"}},
		{"git reflog -1", []string{"HEAD@{0}"}},
		{"git bisect start HEAD HEAD~1 && git bisect reset", []string{"is the first bad commit"}},
		{"git fsck", nil},
		{"git gc", nil},
		{"git commit --allow-empty", []string{"Aborting commit due to empty commit message"}}, // and no wait for an editor
	} {
		r := b.run(t, toolproto.RunRequest{Command: c.command})
		out := r.Stdout.String() + r.Stderr.String()
		if r.ExitCode != 0 && !strings.Contains(c.command, "--allow-empty") || r.TimedOut {
			t.Errorf("%s: exit code %d\n%s", c.command, r.ExitCode, out)
		}
		for _, want := range c.says {
			if !strings.Contains(out, want) {
				t.Errorf("%s does not say %q:\n%s", c.command, want, out)
			}
		}
		if strings.Contains(out, "fatal:") || strings.Contains(out, "cannot run") {
			t.Errorf("%s: %s", c.command, out)
		}
	}
	if r := b.run(t, toolproto.RunRequest{Command: "ls ../canary"}); r.ExitCode == 0 {
		t.Error("a program of the environment was run by git diff")
	}
}
