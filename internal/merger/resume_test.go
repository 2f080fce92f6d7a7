package merger

import (
	"path/filepath"
	"strings"
	"testing"

	"company/internal/agentrun/sandbox"
	"company/internal/company"
	"company/internal/gitops/gitopstest"
	"company/internal/toolbox/toolproto"
	"company/internal/toolbox/toolserver/toolservertest"
)

// A process dies while its merger resolves a conflict. The next one finds the
// half-resolved files, and what is committed then is still a merge of the two
// sides.
func TestResolutionSurvivesACrash(t *testing.T) {
	p := gitopstest.New(t, map[string]string{"a.txt": "one\n", "b.txt": "b\n"})
	ours := p.Commit("ours", map[string]string{"a.txt": "ours\n"})
	theirs := p.Commit("theirs", map[string]string{"a.txt": "theirs\n", "new.txt": "new\n"})
	origin := filepath.Join(t.TempDir(), "origin.git")
	p.Git("init", "-q", "--bare", origin)
	p.Git("push", "-q", origin, "main", "ours", "theirs")
	sub := &company.Subtask{ID: "t1-01", Head: ours,
		Conflict: &company.ConflictReported{Head: ours, Onto: theirs, Paths: []string{"a.txt"}}}
	const run = company.RunID("t1-01-merge.1")

	begin := func(resume company.OID) *sandbox.Sandbox {
		t.Helper()
		b := &sandbox.Sandbox{Tools: toolservertest.Start(t, t.TempDir())}
		var err error
		b.Prepared, err = b.Tools.Prepare(t.Context(), toolproto.PrepareRequest{
			CloneURL: origin, BaseOID: string(ours), Branch: "agent/t1-01-x", AuthorName: "agent", AuthorEmail: "a@example.org",
			Resume: string(resume),
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := beginMerge(t.Context(), b, sub); err != nil {
			t.Fatal(err)
		}
		return b
	}
	sh := func(b *sandbox.Sandbox, command string) string {
		t.Helper()
		r, err := b.Tools.Run(t.Context(), toolproto.RunRequest{Command: command})
		if err != nil || r.ExitCode != 0 {
			t.Fatalf("%s: %v %+v", command, err, r)
		}
		return strings.TrimSpace(r.Stdout.String())
	}

	first := begin("")
	if text := sh(first, "cat a.txt"); !strings.Contains(text, "<<<<<<<") {
		t.Fatalf("no conflict: %s", text)
	}
	sh(first, "printf 'ours\\ntheirs\\n' > a.txt")
	cp, err := first.Tools.Checkpoint(t.Context(), string(run))
	if err != nil {
		t.Fatal(err)
	}

	second := begin(company.OID(cp.OID))
	if !second.Prepared.Dirty {
		t.Fatalf("%+v", second.Prepared)
	}
	done, err := second.Tools.GitCommit(t.Context(), toolproto.GitCommitRequest{Message: "[t1-01] both"})
	if err != nil {
		t.Fatal(err)
	}
	if parents := sh(second, "git log -1 --format=%P"); parents != string(ours)+" "+string(theirs) {
		t.Errorf("parents %s", parents)
	}
	if got := sh(second, "cat a.txt new.txt b.txt"); got != "ours\ntheirs\nnew\nb" {
		t.Errorf("the merge holds %q", got)
	}

	// Killed after the commit: there is nothing to begin.
	third := begin(company.OID(cp.OID))
	if third.Prepared.Head != done.Commit || third.Prepared.Dirty ||
		sh(third, "git status --porcelain; ls .git/MERGE_HEAD 2>/dev/null || true") != "" {
		t.Errorf("%+v", third.Prepared)
	}
}
