package patch

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// contents are lines that look like parts of a patch, and others.
var contents = []string{
	"++ b/notes.md", "-- a/notes.md", "+++ b/x", "--- a/x", "@@ -1,2 +1,2 @@", "@@ -1 +1 @@ func x", "diff --git a/x b/x",
	"index 1..2 100644",
	"\\ No newline at end of file", "new file mode 100644", "rename to y", "Binary files a/x and b/x differ", "", " ", "+",
	"-", "\r", "a\rb", "\xff", "@@@ -1 -1 +1 @@@", "x", "y", "z",
}

// names are paths of files that are hard to read in a patch.
var names = []string{"a.go", "b/a.go", "a/b/c", "b/b/b", "dev/null", "with blank.txt", "a b/c b/d", "tab\tbed",
	"new\nline", "ünïcode", `quo"te`, `back\slash`, "trailing ", "x => y", "@@ -1 +1 @@"}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command(
		"git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.autocrlf=false"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.Output()
	if err != nil && (args[0] != "merge" || len(out) == 0) {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// randomText is a file of lines that may look like a patch; it may be binary, and lack its last line's end.
func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.Intn(25) {
		b.WriteString(contents[r.Intn(len(contents))] + "\n")
	}
	text := b.String()
	switch r.Intn(6) {
	case 0:
		text = strings.TrimSuffix(text, "\n")
	case 1:
		text += "\x00"
	}
	return text
}

// changeText changes some lines of a text.
func changeText(r *rand.Rand, text string) string {
	lines := strings.Split(text, "\n")
	for range 1 + r.Intn(4) {
		i := r.Intn(len(lines))
		switch r.Intn(3) {
		case 0:
			lines[i] = contents[r.Intn(len(contents))]
		case 1:
			lines = slices.Insert(lines, i, contents[r.Intn(len(contents))], contents[r.Intn(len(contents))])
		case 2:
			lines = slices.Delete(lines, i, i+1)
		}
		if len(lines) == 0 {
			return ""
		}
	}
	return strings.Join(lines, "\n")
}

type tree map[string]string

func (tr tree) write(t *testing.T, dir string) {
	t.Helper()
	for name := range tr {
		if tr[name] == "" && len(name)%2 == 0 {
			continue // some files have no lines, others are not there
		}
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o644)
		if len(tr[name])%5 == 1 {
			mode = 0o755
		}
		if err := os.WriteFile(file, []byte(tr[name]), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
	}
}

// commitTree makes a commit of a tree alone.
func commitTree(t *testing.T, dir string, tr tree) string {
	t.Helper()
	git(t, dir, "rm", "-rfq", "--ignore-unmatch", ".")
	tr.write(t, dir)
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "x")
	return strings.TrimSpace(git(t, dir, "rev-parse", "HEAD"))
}

// checkNumbers holds each line of a patch against the versions that it numbers.
func checkNumbers(t *testing.T, patch string, oldText, newText func(f *File) string) {
	t.Helper()
	versions := map[string][]string{}
	lineOf := func(key, text string, n int) string {
		if versions[key] == nil {
			versions[key] = strings.Split(text, "\n")
		}
		if n > len(versions[key]) {
			return "(no line)"
		}
		return versions[key][n-1]
	}
	var all strings.Builder
	for l := range Lines(patch) {
		all.WriteString(l.Raw)
		if l.Kind == Hunk || l.Kind == Heading || l.Kind == Note {
			continue
		}
		if l.Kind == Outside {
			t.Fatalf("a line outside of files: %q", l.Raw)
		}
		if l.Old > 0 && oldText != nil {
			if want := lineOf("old "+l.File.Old, oldText(l.File), l.Old); want != l.Text {
				t.Fatalf("%s, old line %d is %q, read as %q in\n%s", l.File.Path(), l.Old, want, l.Text, patch)
			}
		}
		if l.New > 0 {
			if want := lineOf("new "+l.File.New, newText(l.File), l.New); want != l.Text {
				t.Fatalf("%s, line %d is %q, read as %q in\n%s", l.File.Path(), l.New, want, l.Text, patch)
			}
		}
	}
	if all.String() != patch {
		t.Fatal("the lines are not the patch")
	}
}

// What is read of a patch is what git says of it: the files, how many lines came and went,
// and each line, whatever they hold.
func TestLinesAreGits(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	r := rand.New(rand.NewSource(7))
	for round := range 25 {
		from, to := tree{}, tree{}
		for _, name := range names {
			if r.Intn(3) > 0 {
				from[name] = randomText(r)
			}
			switch {
			case r.Intn(3) == 0:
				to[name] = randomText(r)
			case r.Intn(4) > 0 && from[name] != "":
				to[name] = changeText(r, from[name])
			}
		}
		old, head := commitTree(t, dir, from), commitTree(t, dir, to)
		for _, args := range [][]string{{"--no-renames"}, {"-M", "-C", "--find-copies-harder"}, {"--no-renames", "-U0"},
			{"--no-renames", "-c", "core.quotePath=false"}} {
			command := []string{"diff-tree", "-r", "-p", "--no-color"}
			if n := slices.Index(args, "-c"); n >= 0 {
				command, args = append(slices.Clone(args[n:]), command...), args[:n]
			}
			patch := git(t, dir, append(append(command, args...), old, head)...)
			checkNumbers(t, patch, func(f *File) string { return from[f.Old] }, func(f *File) string { return to[f.New] })
			type sum struct{ added, removed int }
			got := map[string]sum{}
			for l := range Lines(patch) {
				s := got[l.File.Path()]
				switch l.Kind {
				case Added:
					s.added++
				case Removed:
					s.removed++
				}
				got[l.File.Path()] = s
			}
			if args[0] != "--no-renames" {
				continue
			}
			for record := range strings.SplitSeq(
				strings.TrimSuffix(git(t, dir, "diff-tree", "-r", "-z", "--numstat", "--no-renames", old, head), "\x00"), "\x00") {
				f := strings.SplitN(record, "\t", 3)
				if len(f) != 3 {
					continue
				}
				added, _ := strconv.Atoi(f[0]) // "-" of a binary file
				removed, _ := strconv.Atoi(f[1])
				if s, there := got[f[2]]; !there || s != (sum{added, removed}) {
					t.Fatalf("round %d: %q has +%d -%d, read as %+v (%v) in\n%s", round, f[2], added, removed, s, there, patch)
				}
				delete(got, f[2])
			}
			if len(got) > 0 {
				t.Fatalf("files that git does not name: %v\n%s", got, patch)
			}
		}
	}
}

// A diff of a merge has a column for each parent.
func TestDiffsOfMerges(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	r := rand.New(rand.NewSource(8))
	seen := 0
	for range 12 {
		base := tree{"f.txt": strings.Repeat("same\n", 3) + strings.TrimSuffix(randomText(r), "\x00") + "\nend\n"}
		commitTree(t, dir, base)
		left := commitTree(t, dir, tree{"f.txt": changeText(r, base["f.txt"])})
		git(t, dir, "checkout", "-q", "-B", "side", "HEAD~1")
		right := commitTree(t, dir, tree{"f.txt": changeText(r, base["f.txt"])})
		result := changeText(r, base["f.txt"])
		whole := commitTree(t, dir, tree{"f.txt": result})
		merge := strings.TrimSpace(git(t, dir, "commit-tree", whole+"^{tree}", "-p", left, "-p", right, "-m", "merge"))
		patch := git(t, dir, "diff-tree", "-p", "--cc", "--no-commit-id", merge)
		checkNumbers(t, patch, nil, func(*File) string { return result })
		for l := range Lines(patch) {
			if l.Kind == Added || l.Kind == Removed {
				seen++
			}
			if l.File.Path() != "f.txt" {
				t.Fatalf("the file is %q", l.File.Path())
			}
		}
		git(t, dir, "checkout", "-q", "main")
	}
	if seen == 0 {
		t.Error("no merge differs from its parents")
	}
}

// Text that is no patch has no lines of files, and a patch that was cut ends where it was cut.
func TestOddPatches(t *testing.T) {
	const cut = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n+one\n(the rest of this file is left out)\ndiff " +
		"--git a/y b/y\n@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n@@ wrong @@\n"
	var b strings.Builder
	for l := range Lines("a note\n@@ -1 +1 @@\n+a\n" + cut) {
		path := ""
		if l.File != nil {
			path = l.File.Path()
		}
		fmt.Fprintf(&b, "%d %s %d %d %s\n", l.Kind, path, l.Old, l.New, l.Text)
	}
	want := "0  0 0 a note\n0  0 0 @@ -1 +1 @@\n0  0 0 +a\n" +
		"1 x 0 0 diff --git a/x b/x\n1 x 0 0 --- a/x\n1 x 0 0 +++ b/x\n2 x 1 1 @@ -1,9 +1,9 @@\n3 x 0 1 one\n1 x 0 0 (the " +
		"rest of this file is left out)\n" +
		"1 y 0 0 diff --git a/y b/y\n2 y 1 1 @@ -1 +1 @@\n4 y 1 0 a\n3 y 0 1 b\n6 y 0 0 \\ No newline at end of file\n1 y " +
		"0 0 @@ wrong @@\n"
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\n"))
	f.Add([]byte("diff --cc x\n@@@ -1,2 -1 +1,3 @@@\n++a\n -b\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var all bytes.Buffer
		for l := range Lines(string(text)) {
			all.WriteString(l.Raw)
			if (l.Kind == Outside) != (l.File == nil) {
				t.Errorf("%+v", l)
			}
		}
		if !bytes.Equal(all.Bytes(), text) {
			t.Error("the lines are not the text")
		}
	})
}
