package gitops

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
)

type fullDisk struct{ err error }

func (f fullDisk) Write([]byte) (int, error) { return 0, f.err }

// TestMirrorFromPack: commits and trees of a mirror are in the one that is made of its pack,
// and nothing else is; missing objects are passed over, and a damaged pack makes no repository.
func TestMirrorFromPack(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	first := b.base.OID
	commitFiles(t, b.checkout, "second", map[string]string{"a.txt": "two\n"})
	b.fetch(t)
	tree, err := b.mirror.Tree(b.ctx, b.base.OID)
	if err != nil {
		t.Fatal(err)
	}
	var pack bytes.Buffer
	gone := company.OID(strings.Repeat("1", 40))
	if err := b.mirror.WritePack(b.ctx, []company.OID{first, gone, tree}, &pack); err != nil {
		t.Fatal(err)
	}
	project := strings.TrimSuffix(filepath.Base(b.mirror.Dir()), ".git")
	root := filepath.Join(t.TempDir(), "store")
	if err := UnpackMirror(b.ctx, root, project, bytes.NewReader(pack.Bytes())); err != nil {
		t.Fatal(err)
	}
	m, err := LookAt(root, "", project, b.checkout)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := m.ReadFile(b.ctx, tree, "a.txt"); err != nil || string(got) != "two\n" {
		t.Errorf("%q %v", got, err)
	}
	if _, err := m.Resolve(b.ctx, string(first)); err != nil {
		t.Error(err)
	}
	if _, err := m.Resolve(b.ctx, string(b.base.OID)); company.CodeOf(err) != company.ENotFound {
		t.Errorf("the second commit was not asked for: %v", err)
	}
	damaged := bytes.Clone(pack.Bytes())
	damaged[len(damaged)/2] ^= 1
	for name, text := range map[string][]byte{"damaged": damaged, "empty": nil, "cut off": damaged[:len(damaged)-30]} {
		root := filepath.Join(t.TempDir(), "store")
		if err := UnpackMirror(b.ctx, root, project, bytes.NewReader(text)); company.CodeOf(err) != company.EObjects {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := LookAt(root, "", project, b.checkout); company.CodeOf(err) != company.ENotFound {
			t.Errorf("%s: a mirror is there: %v", name, err)
		}
	}
	full := errors.New("the disk is full")
	if err := b.mirror.WritePack(b.ctx, []company.OID{first}, fullDisk{full}); !errors.Is(err, full) {
		t.Error(err)
	}
	if err := UnpackMirror(b.ctx, root, "../x", nil); company.CodeOf(err) != company.EInvalid {
		t.Error(err)
	}
}
