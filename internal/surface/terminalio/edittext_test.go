package terminalio

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
)

// TestEditText: the editor gets the text, the file goes once it was read, and stays where the
// editor failed.
func TestEditText(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	editor := ""
	con := &Console{Environ: os.Environ(),
		LookupEnv: func(name string) (string, bool) { return editor, name == "EDITOR" && editor != "" }}
	if _, _, err := con.EditText("x"); company.CodeOf(err) != company.EUsage {
		t.Errorf("without an editor: %v", err)
	}
	editor = "sed -i s/before/after/"
	cmd, read, err := con.EditText("before\nsecond")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := read(cmd.Run()); err != nil || text != "after\nsecond" {
		t.Errorf("%q, %v", text, err)
	}
	cmd, read, err = con.EditText("kept")
	if err != nil {
		t.Fatal(err)
	}
	_, err = read(errors.New("killed"))
	file := cmd.Args[len(cmd.Args)-1]
	kept, readErr := os.ReadFile(file)
	if company.CodeOf(err) != company.EUsage || !strings.Contains(err.Error()+hintOf(err), file) || readErr != nil ||
		string(kept) != "kept" {
		t.Errorf("%v; the file has %q, %v", err, kept, readErr)
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(left) != 1 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
}

// TestEditorThatIsNotThere: nothing was written in it, and the advice names no file of it.
func TestEditorThatIsNotThere(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	con := &Console{In: strings.NewReader(""), Err: io.Discard}
	_, err := con.EditInstruction(t.Context(), filepath.Join(t.TempDir(), "absent"))
	if hint := hintOf(err); company.CodeOf(err) != company.EUsage || !strings.Contains(hint, "set VISUAL or EDITOR") ||
		strings.Contains(hint, "your text") {
		t.Errorf("%v, %q", err, hint)
	}
}

func hintOf(err error) string {
	var e *company.Error
	if errors.As(err, &e) {
		return e.Hint
	}
	return ""
}
