package gitops

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/lib/safedir/foldertest"
)

// T3: a small repository that unfolds to a tree of many files, many bytes or many folders
// without a file is refused before a file is written, and nothing of it stays.
func TestCloneOfTreeBomb(t *testing.T) {
	t.Parallel()
	for name, leaf := range map[string]string{"bytes": strings.Repeat("0", 1<<20), "files": "x", "folders": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			origin := newCheckout(t, map[string]string{"README": "hello\n"})
			file := filepath.Join(t.TempDir(), "leaf")
			if err := os.WriteFile(file, []byte(leaf), 0o600); err != nil {
				t.Fatal(err)
			}
			tree := gitexectest.GitWith(t, origin, "", "mktree")
			if leaf != "" {
				blob := gitexectest.Git(t, origin, "hash-object", "-w", file)
				tree = gitexectest.GitWith(t, origin, fmt.Sprintf("100644 blob %s\tf\n", blob), "mktree")
			}
			for range 5 { // 20^5 folders
				var lines strings.Builder
				for i := range 20 {
					fmt.Fprintf(&lines, "040000 tree %s\td%02d\n", tree, i)
				}
				tree = gitexectest.GitWith(t, origin, lines.String(), "mktree")
			}
			commit := gitexectest.Git(t, origin, "commit-tree", "-m", "bomb", tree)
			gitexectest.Git(t, origin, "update-ref", "refs/heads/main", commit)
			in := foldertest.Open(t, t.TempDir())
			_, err := OpenClone(t.Context(), Config{Root: filepath.Join(t.TempDir(), "git")}, in,
				mustParse(t, "file://"+origin), "")
			if company.CodeOf(err) != company.EInvalid || !strings.Contains(err.Error(), "is too large to clone") {
				t.Fatalf("%v", err)
			}
			bytes, ok := in.Usage(t.Context(), ".")
			if !ok || bytes > 0 {
				t.Errorf("%d bytes are left of it", bytes)
			}
		})
	}
}

// Lines that come in pieces are counted as whole ones.
func TestUnfoldedInPieces(t *testing.T) {
	text := "100644 blob 1234       7\ta b\x00040000 tree 1234       -\tc\x00100755 blob 1234      12\td\t\x00"
	for size := 1; size <= len(text); size++ {
		u := &unfolded{maxEntries: 3, maxBytes: 19}
		for at := 0; at < len(text); at += size {
			if _, err := u.Write([]byte(text[at:min(at+size, len(text))])); err != nil {
				t.Fatalf("pieces of %d: %v", size, err)
			}
		}
		if u.entries != 3 || u.bytes != 19 {
			t.Errorf("pieces of %d: %d entries, %d bytes", size, u.entries, u.bytes)
		}
	}
}
