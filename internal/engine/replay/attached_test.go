package replay

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"company/internal/company"
)

// TestAttachedFilesOfARecord: a record has the files of its instruction, each the one that
// it is named for.
func TestAttachedFilesOfARecord(t *testing.T) {
	sum := sha256.Sum256([]byte("blue"))
	name := company.Hash(hex.EncodeToString(sum[:]))
	for what, c := range map[string]struct{ content, want string }{
		"whole": {"blue", ""}, "exchanged": {"red", "does not match its name"}, "missing": {"", "lacks spec.md"},
	} {
		f := newRecordFold("t1")
		f.submitted.Attachments = []company.Attachment{{Name: "spec.md", Blob: name}}
		var err error
		if c.content != "" {
			err = f.addAttached(Entry{Blob: name, Text: []byte(c.content)})
		}
		if err == nil {
			err = f.checkAttached()
		}
		if c.want == "" && (err != nil || string(f.Attached[name]) != "blue") ||
			c.want != "" && (company.CodeOf(err) != company.EInvalid || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
