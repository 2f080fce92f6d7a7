package archtest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// trackedFiles gives the text of all files of the tree with one of these
// endings, by their path.
func trackedFiles(t *testing.T, endings ...string) map[string]string {
	t.Helper()
	all, err := readTree()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for name, text := range all {
		if slices.ContainsFunc(endings, func(ending string) bool { return strings.HasSuffix(name, ending) }) {
			files[name] = text
		}
	}
	return files
}

// readTree reads the files of the tree once for all tests, those that are text.
var readTree = sync.OnceValues(func() (map[string]string, error) {
	dir, err := findRoot()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil && bytes.IndexByte(text, 0) < 0 {
			files[name] = string(text)
		}
	}
	return files, nil
})
