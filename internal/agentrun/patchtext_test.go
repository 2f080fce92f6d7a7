package agentrun

import (
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops"
)

// A heading of a diff names its file once; a heading without lines stays as git wrote it, and
// what lines of a file look like changes nothing. A link, or a program, is shown to be one.
func TestHeadingsOfADiffAreShort(t *testing.T) {
	const patch = `diff --git a/a.go b/a.go
index 7c67847..5f38ba6 100644
--- a/a.go
+++ b/a.go
@@ -1,2 +1,2 @@
 index 1
-diff --git a/x b/x
+index 2
diff --git a/run.sh b/run.sh
new file mode 100755
index 0000000..1
--- /dev/null
+++ b/run.sh
@@ -0,0 +1 @@
+true
diff --git a/new.go b/new.go
new file mode 100644
index 0000000..1
--- /dev/null
+++ b/new.go
@@ -0,0 +1 @@
+package a
diff --git a/empty b/empty
new file mode 100644
index 0000000..e69de29
diff --git a/link b/link
index 1..2 120000
--- a/link
+++ b/link
@@ -1 +1 @@
-a.go
+../a.go
diff --git a/pic b/pic
index 1..2 100644
Binary files a/pic and b/pic differ
`
	const want = `--- a/a.go
+++ b/a.go
@@ -1,2 +1,2 @@
 index 1
-diff --git a/x b/x
+index 2
new file mode 100755
--- /dev/null
+++ b/run.sh
@@ -0,0 +1 @@
+true
--- /dev/null
+++ b/new.go
@@ -0,0 +1 @@
+package a
diff --git a/empty b/empty
new file mode 100644
index 0000000..e69de29
index 1..2 120000
--- a/link
+++ b/link
@@ -1 +1 @@
-a.go
+../a.go
diff --git a/pic b/pic
index 1..2 100644
Binary files a/pic and b/pic differ
`
	if got := string(trimHeadings([]byte(patch))); got != want {
		t.Errorf("got:\n%s", got)
	}
	if got := string(
		trimHeadings([]byte("diff --git a/a b/a\nindex 1..2\n--- a/a"))); got != "diff --git a/a b/a\nindex 1..2\n--- a/a" {
		t.Errorf("a patch that is cut in a heading: %q", got)
	}
}

// A diff that is seen at a glance has no list before it but of what it deletes; a larger
// one, or one that is cut, has.
func TestFilesOfALargeDiffAreListed(t *testing.T) {
	d := gitops.Diff{Patch: []byte("+x\n")}
	add := func(action, path string) {
		d.Changes = append(d.Changes, gitops.FileChange{Change: company.Change{Action: action, Path: path}})
	}
	add("modified", "a")
	add("deleted", "b")
	if got := FormatDiff(d, 500); strings.Contains(got, "modified a") || !strings.Contains(got, "- deleted b\n") {
		t.Errorf("%s", got)
	}
	d.Truncated = true
	d.Patch = []byte("+x\n+cut")
	if got := FormatDiff(d, 1); !strings.Contains(got, "- modified a\n- and 1 more files\n") ||
		!strings.Contains(got, "longer than this") || strings.Contains(got, "cut") {
		t.Errorf("%s", got)
	}
	d.Truncated = false
	for range fewChanged {
		add("created", "c")
	}
	if got := FormatDiff(d, 500); !strings.Contains(got, "- modified a\n") {
		t.Errorf("%s", got)
	}
}
