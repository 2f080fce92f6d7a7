package terminalio

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
)

// PowerShell and editors of Windows write UTF-16 and marks. An instruction in them is read as its text, from a file, a
// pipe and an editor. Bytes in another encoding stay, so that the submission is refused.
func TestInstructionsInOtherEncodings(t *testing.T) {
	wide := "\xff\xfe" + strings.Repeat("x\x00", company.MaxInstruction)
	for name, c := range map[string]struct{ stored, want string }{
		"UTF-8 with a mark":     {"\xef\xbb\xbfadd é\n", "add é\n"},
		"UTF-16LE":              {"\xff\xfea\x00d\x00d\x00 \x00\xe9\x00\r\x00\n\x00", "add é\r\n"},
		"UTF-16BE":              {"\xfe\xff\x00a\x00d\x00d\x00 \x00\xe9", "add é"},
		"UTF-16 without a mark": {"a\x00d\x00d\x00", "add"},
		"the longest":           {wide, strings.Repeat("x", company.MaxInstruction)},
		"Latin-1":               {"add \xe9", "add \xe9"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "ticket.md")
			if err := os.WriteFile(file, []byte(c.stored), 0o600); err != nil {
				t.Fatal(err)
			}
			con := &Console{In: strings.NewReader(c.stored), LookupEnv: func(string) (string, bool) { return "", false }}
			for _, from := range []string{file, "-"} {
				if got, err := con.ReadInstruction(t.Context(), from, nil); err != nil || got != c.want {
					t.Errorf("%s: %.40q, %v", from, got, err)
				}
			}
			if got, err := con.EditFile(t.Context(), file, "", "", 1<<20); err != nil || got.Text != c.want {
				t.Errorf("edited: %.40q, %v", got.Text, err)
			}
		})
	}
}
