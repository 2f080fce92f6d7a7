package background

import (
	"bytes"
	"strings"
	"testing"

	"company/internal/company"
)

// TestParcel: a process in the background reads the instruction and its files from one
// stream. Without files the stream is the instruction's text and nothing else.
func TestParcel(t *testing.T) {
	var alone, with bytes.Buffer
	if err := (Submission{Instruction: "say goodbye"}).writeInstruction(&alone); err != nil ||
		alone.String() != "say goodbye" {
		t.Errorf("an instruction alone is %q, %v", alone.String(), err)
	}
	file := company.AttachedFile{Attachment: company.Attachment{Name: "a.png", Type: "image/png", Bytes: 3, Width: 1,
		Height: 2}, Content: []byte{0xff, 0, 1}}
	if err := (Submission{Instruction: "say \"goodbye\"\n", Files: []company.AttachedFile{file}}).writeInstruction(
		&with); err != nil {
		t.Fatal(err)
	}
	text, files, err := ReadParcel(&with)
	if err != nil || text != "say \"goodbye\"\n" || len(files) != 1 || files[0].Attachment != file.Attachment ||
		!bytes.Equal(files[0].Content, file.Content) {
		t.Errorf("read %q with %+v, %v", text, files, err)
	}
	if _, _, err := ReadParcel(strings.NewReader("no parcel")); company.CodeOf(err) != company.EUsage {
		t.Errorf("no parcel: %v", err)
	}
}
