package company_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	. "company/internal/company"
)

var attachedAt = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func textFile(name string, bytes int) AttachedFile {
	return AttachedFile{Attachment: Attachment{Name: name, Type: AttachedText, Bytes: bytes,
		Blob: Hash(strings.Repeat("a", 64))}}
}

func imageFile(name string, width, height, bytes int) AttachedFile {
	return AttachedFile{Attachment: Attachment{Name: name, Type: "image/png", Bytes: bytes, Width: width, Height: height,
		Blob: Hash(strings.Repeat("b", 64))}}
}

func submitWith(files ...AttachedFile) Submit {
	return Submit{Instruction: "build this", Project: Project{ID: "p", Path: "/p"}, Attachments: files}
}

// TestSubmitAttached: the event and the task name the files, and hold no content.
func TestSubmitAttached(t *testing.T) {
	spec, screen := textFile("spec.md", 12), imageFile("screen.png", 800, 600, 34567)
	spec.Content = []byte("build it blue")
	s := NewState()
	s.Office.Epoch = 1
	evs, err := Decide(s, Meta{ID: "c-1", Actor: President, Now: attachedAt}, submitWith(spec, screen))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(evs[0].Data), "content") || strings.Contains(string(evs[0].Data), "blue") {
		t.Errorf("the event holds a content: %s", evs[0].Data)
	}
	for _, e := range evs {
		e.Seq = s.Seq + 1
		if err := Apply(s, e); err != nil {
			t.Fatal(err)
		}
	}
	got := s.Tasks["t1"].Attachments
	if len(got) != 2 || got[0] != spec.Attachment || got[1] != screen.Attachment {
		t.Errorf("the task has %+v", got)
	}
	if text := got[1].Describe(); text != "PNG image, 800x600, 33.76 KiB" {
		t.Errorf("it is described as %q", text)
	}
}

// TestSubmitRefusesAttachments: each bound is refused with a reason and a fix.
func TestSubmitRefusesAttachments(t *testing.T) {
	many := make([]AttachedFile, MaxAttachments+1)
	large := make([]AttachedFile, 5)
	for i := range large {
		large[i] = imageFile(string(rune('a'+i))+".png", 10, 10, MaxAttachedImage)
	}
	pdf := textFile("a.pdf", 10)
	pdf.Type = "application/pdf"
	noBlob := textFile("a.md", 10)
	noBlob.Blob = "../../etc/passwd"
	for want, files := range map[string][]AttachedFile{
		"at most 10":          many,
		"invalid name of an":  {textFile("../spec.md", 1)},
		"\"a\\x1b[31m.md\"":   {textFile("a\x1b[31m.md", 1)},
		"are named SPEC.md":   {textFile("spec.md", 1), textFile("SPEC.md", 1)},
		"unsupported type":    {pdf},
		"limit for a text":    {textFile("a.md", MaxAttachedText+1)},
		"limit of models for": {imageFile("a.png", 1, 1, MaxAttachedImage+1)},
		"has 8001x1 pixels":   {imageFile("a.png", 8001, 1, 10)},
		"has 0x0 pixels":      {imageFile("a.png", 0, 0, 10)},
		"the limit is 16 MiB": large,
		"the file is empty":   {textFile("a.md", 0)},
		"a.md has no conten":  {noBlob},
	} {
		err := submitWith(files...).Validate(attachedAt)
		var e *Error
		if !errors.As(err, &e) || e.Code != EInvalid || !strings.Contains(err.Error(), want) || e.Hint == "" {
			t.Errorf("%s: refused as %v", want, err)
		}
	}
	if err := submitWith(large[:4]...).Validate(attachedAt); err != nil {
		t.Errorf("four large images: %v", err)
	}
}
