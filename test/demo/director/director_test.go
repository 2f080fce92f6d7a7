package director

import (
	"strings"
	"testing"

	"company/internal/company"
)

// TestReadDiff reads what a reviewer is sent: the positions are those of the
// new version, whatever the lines look like.
func TestReadDiff(t *testing.T) {
	diff := `diff --git a/a.go b/a.go
index 1111111..2222222 100644
--- a/a.go
+++ b/a.go
@@ -3,4 +3,5 @@ package a
 one
-two
+TWO
+++ not a header
 three
 four
@@ -40 +41,2 @@ func f() {
-old
+new
+newer
\ No newline at end of file
diff --git a/gone.go b/gone.go
deleted file mode 100644
--- a/gone.go
+++ /dev/null
@@ -1,2 +0,0 @@
--- looks like a header
-@@ -1 +1 @@
diff --git a/new.go b/new.go
new file mode 100644
--- /dev/null
+++ b/new.go
@@ -0,0 +1,3 @@
+package new
+
+var x = 1
diff --git "a/b\303\266den.go" "b/b\303\266den.go"
--- "a/b\303\266den.go"
+++ "b/b\303\266den.go"
@@ -1,0 +2 @@
+last
`
	want := []Added{
		{"a.go", 4, "TWO", "one"},
		{"a.go", 5, "++ not a header", "TWO"},
		{"a.go", 41, "new", ""},
		{"a.go", 42, "newer", "new"},
		{"new.go", 1, "package new", ""},
		{"new.go", 2, "", "package new"},
		{"new.go", 3, "var x = 1", ""},
		{"böden.go", 2, "last", ""},
	}
	got := ReadDiff(diff)
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d: %+v", len(got), len(want), got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("line %d: %+v, want %+v", i, got[i], want[i])
		}
	}
	if got := ReadDiff(""); got != nil {
		t.Errorf("an empty diff adds %+v", got)
	}
}

func TestReviewerFindsSilentErrorsOnly(t *testing.T) {
	diff := "--- a/s.go\n+++ b/s.go\n@@ -10,2 +10,8 @@\n \tif x {\n" +
		"+\t\t_ = f.Close()\n" + // a finding: line 11
		"+\t\t// a reader's close cannot lose anything\n+\t\t_ = g.Close()\n" +
		"+\t\t_, err := h()\n+\t\t_ = x\n+\t}\n \t_ = old()\n" +
		"--- a/s_test.go\n+++ b/s_test.go\n@@ -0,0 +1 @@\n+\t_ = f.Close()\n"
	got := silentErrors(ReadDiff(diff))
	if len(got) != 1 || got[0].File != "s.go" || got[0].Line != 11 || got[0].Severity != company.Blocking ||
		!strings.Contains(got[0].What, "f.Close()") {
		t.Errorf("findings: %+v", got)
	}
	r := company.ReviewRecorded{Verdict: company.RequestChanges, Findings: got}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
}

func TestReadFailure(t *testing.T) {
	output := "test (go test ./...):\nok  \texample.com/depot/internal/app\t0.01s\n--- FAIL: TestVolumePercent " +
		"(0.00s)\n    volume_test.go:22: VolumePercent(16) = 0, want " +
		"5\nFAIL\nFAIL\texample.com/depot/internal/pricing\t0.003s\nFAIL\n"
	f, ok := readFailure(output, "example.com/depot")
	if want := (failure{"internal/pricing/volume.go", "VolumePercent", "16"}); !ok || f != want {
		t.Errorf("%+v %v, want %+v", f, ok, want)
	}
	if f, ok := readFailure("lint (go vet ./...):\nexit status 1", "m"); ok {
		t.Errorf("read %+v out of nothing", f)
	}
}

func TestUnionKeepsBothSides(t *testing.T) {
	for name, tc := range map[string]struct {
		in, want  string
		conflicts int
	}{
		"two":   {"a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> other\nd", "a\nb\nc\nd\n", 1},
		"diff3": {"<<<<<<< HEAD\nb\n||||||| base\nold\n=======\nc\n>>>>>>> other", "b\nc\n", 1},
		"none":  {"a\nb", "a\nb\n", 0},
		"twice": {"<<<<<<< x\na\n=======\nb\n>>>>>>> y\n<<<<<<< x\n=======\nc\n>>>>>>> y", "a\nb\nc\n", 2},
	} {
		got, n := union(strings.Split(tc.in, "\n"))
		if got != tc.want || n != tc.conflicts {
			t.Errorf("%s: %q, %d conflicts; want %q, %d", name, got, n, tc.want, tc.conflicts)
		}
	}
}

// TestPlanIsAPlan holds the director's plan against what company refuses.
func TestPlanIsAPlan(t *testing.T) {
	p := project{Module: "example.com/depot", Item: "Asset", Ledger: "Tally", LedgerFile: "internal/stock/tally.go",
		SKU: "anchor-8", Tiers: []tier{{"60", "12"}, {"10", "5"}}}
	for _, problem := range plan(p).Check(company.PlanRules{}) {
		t.Error(problem)
	}
}

// TestCodeIsGo renders every file that a worker may write.
func TestCodeIsGo(t *testing.T) {
	p := project{Module: "example.com/depot", Item: "Asset", Ledger: "Tally", LedgerFile: "internal/stock/tally.go",
		SKU: "anchor-8", Tiers: []tier{{"60", "12"}, {"10", "5"}}}
	n := 0
	for _, tm := range templates.Templates() {
		name, ok := strings.CutSuffix(tm.Name(), ".tmpl")
		if !ok {
			continue
		}
		n++
		if text := p.write("x.go", name).Args.(Args)["content"].(string); !strings.HasPrefix(text, "package ") {
			t.Errorf("%s: %.40q", name, text)
		}
	}
	if n < 10 {
		t.Errorf("only %d files", n)
	}
}
