package app_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"company/internal/company"
	"company/test/heldoffice"
)

// TestAttachmentsAreStored: the content of a file tells what it is, whatever its sender says,
// and is a blob; a digest without a content reaches no blob, and nothing of a content stands in
// the ledger.
func TestAttachmentsAreStored(t *testing.T) {
	o := heldoffice.Open(t)
	submit := func(files ...company.AttachedFile) company.Submit {
		return company.Submit{Instruction: "build this", Project: company.Project{ID: "p", Path: o.Repo}, Attachments: files}
	}
	claimed := company.Attachment{Name: "../spec.png", Type: "image/png", Bytes: 1, Width: 5, Height: 5,
		Blob: company.Hash(strings.Repeat("0", 64))}
	evs, err := o.App.DoID(t.Context(), "c-1", company.President,
		submit(company.AttachedFile{Attachment: claimed, Content: []byte("make it blue")}))
	if err != nil {
		t.Fatal(err)
	}
	stored := o.View().Tasks[evs[0].Task].Attachments
	if len(stored) != 1 || stored[0].Type != company.AttachedText || stored[0].Name != "spec.png" ||
		stored[0].Bytes != 12 || stored[0].Width != 0 || stored[0].Blob == claimed.Blob {
		t.Fatalf("stored as %+v", stored)
	}
	text, err := json.Marshal(evs)
	if err != nil || bytes.Contains(text, []byte("bWFrZSBpdCBibHVl")) || bytes.Contains(text, []byte("make it blue")) {
		t.Errorf("the event holds the content: %s, %v", text, err)
	}
	before := o.View().Seq
	for what, c := range map[string]company.Submit{
		"a digest without a content": submit(company.AttachedFile{Attachment: stored[0]}),
		"no text and no image":       submit(company.AttachedFile{Attachment: claimed, Content: []byte{0xff, 0}}),
	} {
		if _, err := o.App.DoID(t.Context(), "c-2", company.President, c); company.CodeOf(err) != company.EUsage {
			t.Errorf("%s: %v", what, err)
		}
	}
	if o.View().Seq != before {
		t.Error("a refused submission left something")
	}
}
