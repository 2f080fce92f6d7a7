package main

import (
	"archive/zip"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
)

// openTestLab opens the lab of a case of these files.
func openTestLab(t *testing.T, files map[string]string) (*lab, error) {
	t.Helper()
	dir := writeFiles(t, "it", files)
	cases, err := ReadCases(dir)
	if err != nil {
		t.Fatal(err)
	}
	return openLab(t.Context(), cases[0], filepath.Join(t.TempDir(), "lab"), os.Environ())
}

// showFile is a file of a commit of the lab.
func showFile(t *testing.T, l *lab, at, path string) string {
	t.Helper()
	out, err := l.gitCommand(nil, "show", at+":"+path).Output(t.Context())
	if err != nil {
		return "(none)"
	}
	return string(out)
}

// hiddenChanges adds a test, changes one, and removes one.
const hiddenChanges = newFile + `diff --git a/old.sh b/old.sh
--- a/old.sh
+++ b/old.sh
@@ -1 +1 @@
-old
+stricter
diff --git a/gone.sh b/gone.sh
deleted file mode 100644
--- a/gone.sh
+++ /dev/null
@@ -1 +0,0 @@
-gone
`

// Hidden tests are laid over whatever an attempt has in their place, and take nothing
// else of it away.
func TestHiddenTestsAreLaidOver(t *testing.T) {
	l, err := openTestLab(
		t, map[string]string{CaseFile: goodCase, HiddenFile: hiddenChanges, "repo/old.sh": "old\n", "repo/gone.sh": "gone\n",
			"repo/.gitignore": "*.tmp\n", "repo/x.tmp": "x"})
	if err != nil {
		t.Fatal(err)
	}
	if len(l.tests) != 3 || showFile(t, l, "main", "x.tmp") != "(none)" || showFile(t, l, "main", "old.sh") != "old\n" ||
		showFile(t, l, "main", "new.sh") != "(none)" {
		t.Errorf("the base: %v", l.tests)
	}

	// An attempt that wrote tests of its own in the same places, one of them as a folder.
	work := filepath.Join(t.TempDir(), "work")
	if err := l.copyBase(t.Context(), work); err != nil {
		t.Fatal(err)
	}
	runGit := func(script string) string {
		t.Helper()
		cmd := exec.Command("sh", "-ec", script)
		cmd.Dir = work
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if has := runGit("git rev-list --all --objects | cut -c 42-; git branch -a"); strings.Contains(has, "new.sh") ||
		strings.Contains(has, hiddenBranch) {
		t.Errorf("the checkout of an attempt has hidden tests:\n%s", has)
	}
	head := runGit("mkdir new.sh; echo mine > new.sh/a; echo easier > old.sh; echo work > work.sh; git checkout -q -b " +
		"develop-t1; git add -A; git commit -q -m work; git rev-parse HEAD")
	if err := l.takeResult(t.Context(), work, "develop-t1", company.OID(head)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"new.sh": "true\n", "old.sh": "stricter\n", "gone.sh": "(none)",
		"work.sh": "work\n", ".gitignore": "*.tmp\n"} {
		if got := showFile(t, l, resultBranch, path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	if err := l.takeResult(t.Context(), work, "develop-t1", l.base); err == nil {
		t.Error("a branch that has moved was taken")
	}
}

// The commits of a case are the same each time, so that its image is made once.
func TestBaseIsAlwaysTheSame(t *testing.T) {
	files := map[string]string{CaseFile: goodCase, HiddenFile: newFile, "repo/a": "a\n"}
	one, err := openTestLab(t, files)
	if err != nil {
		t.Fatal(err)
	}
	two, err := openTestLab(t, files)
	if err != nil || one.base != two.base || one.hidden != two.hidden {
		t.Errorf("%v and %v: %v", one.base, two.base, err)
	}
}

func TestPatchesThatDoNotApply(t *testing.T) {
	_, err := openTestLab(t, map[string]string{CaseFile: goodCase, HiddenFile: hiddenChanges, "repo/a": "a\n"})
	if company.CodeOf(err) != company.EInvalid ||
		!strings.Contains(err.Error(), "it/hidden.patch: the patch does not apply to the base") {
		t.Errorf("%v", err)
	}
	_, err = openTestLab(t, map[string]string{CaseFile: goodCase, HiddenFile: "no patch\n", "repo/a": "a\n"})
	if company.CodeOf(err) != company.EInvalid {
		t.Errorf("%v", err)
	}
	l, err := openTestLab(
		t, map[string]string{CaseFile: goodCase, HiddenFile: newFile, SolutionFile: "no patch\n", "repo/a": "a\n"})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.commitSolution(t.Context()); company.CodeOf(err) != company.EInvalid ||
		!strings.Contains(err.Error(), "it/solution.patch") {
		t.Errorf("%v", err)
	}
}

// A base can be a commit of a repository or of a bundle; what came after it is not there.
func TestBaseOfARepository(t *testing.T) {
	source := t.TempDir()
	cmd := exec.Command("sh", "-ec",
		`git init -q -b main; echo one > a; git add -A; git commit -q -m one; git rev-parse HEAD
echo two > a; git add -A; git commit -q -m 'the solution'; git bundle create -q all.bundle main`)
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	commit := strings.TrimSpace(string(out))
	for _, from := range []string{source, filepath.Join(source, "all.bundle")} {
		l, err := openTestLab(
			t, map[string]string{CaseFile: goodCase + "base: {git: '" + from + "', commit: " + commit + "}\n",
				HiddenFile: newFile})
		if err != nil {
			t.Fatal(err)
		}
		work := filepath.Join(t.TempDir(), "work")
		if err := l.copyBase(t.Context(), work); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("git", "log", "--all", "--format=%s")
		cmd.Dir = work
		log, err := cmd.CombinedOutput()
		if string(l.base) != commit || err != nil || string(log) != "one\n" {
			t.Errorf("%s: at %s with the past %q, %v", from, l.base, log, err)
		}
	}
	_, err = openTestLab(
		t, map[string]string{CaseFile: goodCase + "base: {git: '" + source + "', commit: " + strings.Repeat("1", 40) + "}\n",
			HiddenFile: newFile})
	if company.CodeOf(err) != company.EInvalid || !strings.Contains(err.Error(), "the base is missing") {
		t.Errorf("%v", err)
	}
}

// The base of a case may be a version of a Go module, with faults that the case plants in it.
func TestBaseOfAModule(t *testing.T) {
	proxy := t.TempDir()
	var zipped bytes.Buffer
	z := zip.NewWriter(&zipped)
	for name, text := range map[string]string{"go.mod": "module example.com/lib\n",
		"lib.go": "package lib\n\nconst Answer = 42\n", ".gitignore": "kept.txt\n", "kept.txt": "kept\n"} {
		w, err := z.Create("example.com/lib@v1.2.3/" + name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(proxy, "example.com", "lib", "@v")
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"v1.2.3.info": `{"Version":"v1.2.3"}`,
		"v1.2.3.mod": "module example.com/lib\n", "v1.2.3.zip": zipped.String()} {
		if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	environ := append(os.Environ(), "GOPROXY=file://"+proxy, "GOSUMDB=off", "GOMODCACHE="+t.TempDir(),
		"GOFLAGS=-modcacherw")
	open := func(text, plant string) (*lab, error) {
		files := map[string]string{CaseFile: goodCase + text, HiddenFile: newFile}
		if plant != "" {
			files[PlantFile] = plant
		}
		cases, err := ReadCases(writeFiles(t, "it", files))
		if err != nil {
			return nil, err
		}
		return openLab(t.Context(), cases[0], filepath.Join(t.TempDir(), "lab"), environ)
	}
	const base = "base: {module: example.com/lib, version: v1.2.3}\n"
	l, err := open(base, "--- a/lib.go\n+++ b/lib.go\n@@ -3 +3 @@\n-const Answer = 42\n+const Answer = 7\n")
	if err != nil {
		t.Fatal(err)
	}
	if showFile(t, l, "main", "lib.go") != "package lib\n\nconst Answer = 7\n" ||
		showFile(t, l, "main", "kept.txt") != "kept\n" {
		t.Errorf("the base is %q, %q", showFile(t, l, "main", "lib.go"), showFile(t, l, "main", "kept.txt"))
	}
	if past, err := l.runGit(t.Context(), nil, "log", "--all", "--format=%s"); err != nil ||
		strings.Contains(past, "plant") {
		t.Errorf("the past of the base is %q, %v", past, err)
	}
	if l, err = open("base: {module: example.com/lib, version: v1.2.3, without: [kept.txt]}\n", ""); err != nil {
		t.Fatal(err)
	}
	if files, err := l.runGit(t.Context(), nil, "ls-tree", "-r", "--name-only", "main"); err != nil ||
		files != ".gitignore\ngo.mod\nlib.go" {
		t.Errorf("the base without a file: %q, %v", files, err)
	}
	for text, says := range map[string]string{
		"base: {module: example.com/lib, version: v1.2.3, without: [no.txt]}\n": "base.without names no file of the module",
		"base: {git: x, commit: y, without: [a]}\n":                             "base.without has no module",
		"base: {module: example.com/lib, version: v1.9.9}\n":                    "the base is missing: example.com/lib@v1.9.9 cannot be had",
		"base: {module: example.com/lib, version: main}\n":                      "base names no version of a Go module",
		"base: {module: example.com/lib, git: x, version: v1}\n":                "base names a repository and a module",
	} {
		if _, err := open(text, ""); company.CodeOf(err) != company.EInvalid || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := open(base, "no patch\n"); company.CodeOf(err) != company.EInvalid ||
		!strings.Contains(err.Error(), "it/plant.patch") {
		t.Errorf("%v", err)
	}
}
