package toolserver

import (
	"os"
	"path/filepath"
	"testing"

	"company/internal/toolbox/toolproto"
)

// TestAttach: files of the instruction lie beside the workspace, can be read and not
// written, and none gets a name that leads elsewhere.
func TestAttach(t *testing.T) {
	b := newBench(t)
	folder := filepath.Join(filepath.Dir(b.dir), "attached")
	t.Cleanup(func() { _ = os.Chmod(folder, 0o700) }) // to be removed with the rest
	if err := b.Attach(t.Context(),
		[]toolproto.AttachedFile{{Name: "spec.md", Content: []byte("blue")},
			{Name: "screen.png", Content: []byte("\x89PNG")}}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"spec.md": "blue", "screen.png": "\x89PNG"} {
		file := filepath.Join(folder, name)
		got := must[[]byte](t)(os.ReadFile(file))
		info := must[os.FileInfo](t)(os.Stat(file))
		if string(got) != want || info.Mode().Perm() != 0o444 {
			t.Errorf("%s holds %q with mode %v", name, got, info.Mode())
		}
	}
	for _, name := range []string{"../out.md", "a/b", "..", ""} {
		_ = os.Chmod(folder, 0o700)
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		if err := b.Attach(t.Context(), []toolproto.AttachedFile{{Name: name, Content: []byte("x")}}); err == nil {
			t.Errorf("%q was stored", name)
		}
	}
}
