package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

// goodCase is a whole case.
const goodCase = "instruction: |\n  Say goodbye.\nrun: sh test.sh\nmust_pass: exit 0\n"

const newFile = "diff --git a/new.sh b/new.sh\nnew file mode 100644\n--- /dev/null\n+++ b/new.sh\n@@ -0,0 +1 " +
	"@@\n+true\n"

// writeFiles writes files into a new folder called name.
func writeFiles(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	for file, text := range files {
		path := filepath.Join(dir, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestReadCase(t *testing.T) {
	dir := writeFiles(t, "bye", map[string]string{
		CaseFile: "instruction: Say goodbye.\nrun: go test ./...\nmust_pass: [a TestX, a TestY]\nmust_stay: [a " +
			"TestZ]\ntest_time: 90s\nwork_time: 2h\n",
		"repo/a": "a\n", HiddenFile: newFile, SolutionFile: newFile,
	})
	for _, at := range []string{dir, filepath.Dir(dir)} { // the case, and the folder of cases
		cases, err := ReadCases(at)
		if err != nil || len(cases) != 1 {
			t.Fatalf("%v: %v", cases, err)
		}
		c := cases[0]
		if c.Name != "bye" || c.Instruction != "Say goodbye." || c.Run != "go test ./..." || len(c.MustPass) != 2 ||
			c.MustStay[0] != "a TestZ" || c.TestTime != 90*time.Second || c.WorkTime != 2*time.Hour ||
			c.Base.Folder != filepath.Join(dir, BaseFolder) || string(c.Hidden) != newFile || string(c.Solution) != newFile {
			t.Errorf("%+v", c)
		}
	}
	if err := os.Remove(filepath.Join(dir, SolutionFile)); err != nil {
		t.Fatal(err)
	}
	if cases, err := ReadCases(dir); err != nil || cases[0].Solution != nil {
		t.Errorf("without a solution: %v", err)
	}
}

// What is wrong with a case is said with its file, and with what mends it.
func TestReadCaseRefuses(t *testing.T) {
	const commit = "1234567890123456789012345678901234567890"
	noFolder := map[string]string{"repo/a": ""}
	for name, c := range map[string]struct {
		text    string
		without map[string]string // files that are not there
		with    map[string]string
		says    string
	}{
		"empty":          {text: "\n", says: "instruction is missing"},
		"unknown key":    {text: goodCase + "image: debian\n", says: "unknown field \"image\""},
		"twice":          {text: goodCase + "run: true\n", says: "\"run\" already defined"},
		"no YAML":        {text: "run: [\n", says: "it is not a case"},
		"wrong type":     {text: "instruction: [a]\nrun: b\nmust_pass: exit 0\n", says: "it is not a case"},
		"no instruction": {text: "instruction: ' '\nrun: b\nmust_pass: exit 0\n", says: "instruction is missing"},
		"long instruction": {text: "instruction: " + strings.Repeat("x", 20_000) + "\nrun: b\nmust_pass: exit 0\n",
			says: "instruction has 20000 bytes"},
		"no command": {text: "instruction: a\nmust_pass: exit 0\n", says: "run is not a command of one line"},
		"two lines": {text: "instruction: a\nrun: \"a\\nb\"\nmust_pass: exit 0\n",
			says: "run is not a command of one line"},
		"no must_pass":      {text: "instruction: a\nrun: b\n", says: "must_pass is missing"},
		"other must_pass":   {text: "instruction: a\nrun: b\nmust_pass: exit 1\n", says: `must_pass is "exit 1"`},
		"must_pass of none": {text: "instruction: a\nrun: b\nmust_pass: []\n", says: "must_pass names no test"},
		"must_stay alone":   {text: goodCase + "must_stay: [a]\n", says: "must_stay has names, and must_pass has none"},
		"a test twice": {text: "instruction: a\nrun: b\nmust_pass: [x]\nmust_stay: [x]\n",
			says: `the test "x" is named twice`},
		"name":      {text: "name: ../up\n" + goodCase, says: `the name "../up" cannot be used`},
		"duration":  {text: goodCase + "test_time: long\n", says: `test_time "long" is not a duration`},
		"no base":   {text: goodCase, without: noFolder, says: "the base is missing: there is no folder repo"},
		"two bases": {text: goodCase + "base: {git: x, commit: " + commit + "}\n", says: "the case has two bases"},
		"a repository inside": {text: goodCase, with: map[string]string{"repo/.git/HEAD": "x"},
			says: "the folder is a repository itself"},
		"a branch": {text: goodCase + "base: {git: x, commit: main}\n", without: noFolder,
			says: "base.commit is not the full id of a commit"},
		"a path that is gone": {text: goodCase + "base: {git: ../gone, commit: " + commit + "}\n", without: noFolder,
			says: "the base is missing"},
		"another protocol": {text: goodCase + "base: {git: 'ssh://host/x', commit: " + commit + "}\n", without: noFolder,
			says: "neither an https address nor a path"},
		"an option": {text: goodCase + "base: {git: '--upload-pack=x', commit: " + commit + "}\n", without: noFolder,
			says: "base.git names no repository"},
		"no hidden tests": {text: goodCase, without: map[string]string{HiddenFile: ""},
			says: "the patch of the hidden tests cannot be read"},
		"empty hidden tests": {text: goodCase, with: map[string]string{HiddenFile: "\n"}, says: "is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{CaseFile: c.text, "repo/a": "a\n", HiddenFile: newFile}
			for file := range c.without {
				delete(files, file)
			}
			for file, text := range c.with {
				files[file] = text
			}
			_, err := ReadCases(writeFiles(t, "bad", files))
			var e *company.Error
			if !errors.As(err, &e) || e.Code != company.EInvalid || e.Hint == "" || !strings.Contains(err.Error(), c.says) ||
				!strings.Contains(err.Error(), "bad/") {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestReadCasesRefuses(t *testing.T) {
	if _, err := ReadCases(t.TempDir()); company.CodeOf(err) != company.ENotFound {
		t.Errorf("no cases: %v", err)
	}
	if _, err := ReadCases(filepath.Join(t.TempDir(), "gone")); company.CodeOf(err) != company.ENotFound {
		t.Errorf("no folder: %v", err)
	}
	dir := writeFiles(t, "set", map[string]string{
		"a/case.yaml": "name: x\n" + goodCase, "a/repo/a": "", "a/hidden.patch": newFile,
		"b/case.yaml": "name: x\n" + goodCase, "b/repo/a": "", "b/hidden.patch": newFile, "notes/README": "no case",
	})
	if _, err := ReadCases(dir); err == nil || !strings.Contains(err.Error(), "two cases are called x") {
		t.Errorf("two of one name: %v", err)
	}
}
