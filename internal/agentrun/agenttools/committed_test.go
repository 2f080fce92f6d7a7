package agenttools

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops"
)

// A file that bypasses a filter is named once, by the commit or by the end of the work.
func TestBypassedFilesAreTold(t *testing.T) {
	b := newBench(t)
	found := []gitops.BypassedFile{{Path: "big.bin", By: "filter=lfs"}}
	b.config.Bypassed = func(context.Context, company.OID) ([]gitops.BypassedFile, error) { return found, nil }
	w := WorkerTools(b.config)
	call(t, w, "write_file", `{"path":"big.bin","content":"big\n"}`)
	first := call(t, w, "git_commit", `{"message":"big"}`)
	requireText(t, first, false, "big.bin (filter=lfs)", "instead of a pointer", "git add --renormalize")
	if strings.Contains(first.Text, "president") {
		t.Errorf("asks about a large file: %s", first.Text)
	}
	found = append(found, gitops.BypassedFile{Path: "secrets/a.yml", By: "filter=git-crypt"})
	call(t, w, "write_file", `{"path":"secrets/a.yml","content":"user: me\n"}`)
	const finish = `{"summary":"done","commit":"sealed"}`
	told := call(t, w, "finish", finish)
	requireText(t, told, true, "Not finished yet", "secrets/a.yml (filter=git-crypt)", "president is asked before")
	if strings.Contains(told.Text, "big.bin") {
		t.Errorf("told again: %s", told.Text)
	}
	requireText(t, call(t, w, "finish", finish), false, "finished at ")
}

// A written file that an ignore rule hides is named by the commit or by the end of the work. If it stays hidden, the
// president reads of it among the decisions.
func TestIgnoredFilesAreTold(t *testing.T) {
	b := newBench(t)
	w := WorkerTools(b.config)
	call(t, w, "write_file", `{"path":".gitignore","content":"*.local\n*.tmp\n"}`)
	call(t, w, "write_file", `{"path":"my.local","content":"x\n"}`)
	requireText(t, call(t, w, "git_commit", `{"message":"a rule"}`), false, "my.local (.gitignore:1: *.local)", "git add -f")
	call(t, w, "write_file", `{"path":"a.tmp","content":"x\n"}`)
	told := call(t, w, "finish", `{"summary":"done"}`)
	requireText(t, told, true, "Not finished yet", "a.tmp (.gitignore:2: *.tmp)")
	if strings.Contains(told.Text, "my.local") {
		t.Errorf("told again: %s", told.Text)
	}
	end := call(t, w, "finish", `{"summary":"done","decisions":["kept it simple"]}`)
	requireText(t, end, false, "finished at ")
	raw, err := json.Marshal(end.Final)
	if err != nil {
		t.Fatal(err)
	}
	const want = `"decisions":["Written, but not in the change, hidden by an ignore rule: ` +
		`a.tmp (.gitignore:2: *.tmp), my.local (.gitignore:1: *.local)","kept it simple"]`
	if !strings.Contains(string(raw), want) {
		t.Errorf("no %s in %s", want, raw)
	}
}
