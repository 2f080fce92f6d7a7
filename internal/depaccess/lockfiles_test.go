package depaccess

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"company/internal/company"
	"company/internal/gitops"
)

// A tree of large lock files, which cost a repository nothing, does not fill
// the host's memory; what is left out allows nothing.
func TestLockFilesAreBoundedTogether(t *testing.T) {
	b := newBench(t, company.Auto)
	repo := filepath.Join(b.dir, "repo")
	text := append(bytes.Repeat([]byte("# \n"), 5<<20), "last==1.0\n"...)
	for i := range 8 {
		dir := filepath.Join(repo, fmt.Sprintf("z%d", i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "requirements.txt"), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "large")
	info, err := b.mirror.FetchBase(t.Context(), nil, gitops.Source{}, "")
	if err != nil {
		t.Fatal(err)
	}
	files, err := Locks(t.Context(), b.mirror, info.OID)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, f := range files {
		total += len(f)
	}
	if total > maxLockBytes || total < maxLockBytes/2 || files["package-lock.json"] == nil {
		t.Errorf("%d files of %d bytes are held", len(files), total)
	}
}
