package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"

	"company/internal/company"
)

// fakeContents are the blobs of an office of tests, by their hash.
type fakeContents map[company.Hash]string

func (c fakeContents) GetBlob(_ context.Context, hash company.Hash, _ int64) ([]byte, error) {
	text, ok := c[hash]
	if !ok {
		return nil, company.E(company.ENotFound, "there is no blob "+string(hash)).Fix("none")
	}
	return []byte(text), nil
}

// fakeBlobs has what stands in the files that come with an instruction.
var fakeBlobs = func() fakeContents {
	all := fakeContents{}
	for _, text := range []string{fakePNG, fakeMarkup, fakeVector} {
		all[attachText("", "", text).Blob] = text
	}
	return all
}()

// attachText makes a file of an instruction whose content is in fakeBlobs.
func attachText(name, mediaType, text string) company.AttachedFile {
	sum := sha256.Sum256([]byte(text))
	a := company.Attachment{Name: name, Type: mediaType, Bytes: len(text), Blob: company.Hash(hex.EncodeToString(sum[:]))}
	if a.IsImage() {
		a.Width, a.Height = 3, 2
	}
	return company.AttachedFile{Attachment: a}
}

const (
	fakePNG    = "\x89PNG\r\n\x1a\n of a test"
	fakeMarkup = "<script>pwned=1</script>"
	fakeVector = `<svg xmlns="http://www.w3.org/2000/svg" onload="pwned=1"/>`
)

// TestAttachmentsAreAnswered: what came with an instruction is answered as an image of four types
// or as plain text, and a browser runs nothing of it.
func TestAttachmentsAreAnswered(t *testing.T) {
	d := serveOverTCP(t, nil)
	evs, err := d.DoID(t.Context(), "files", company.President,
		company.Submit{Instruction: "look", Project: company.Project{ID: "p", Path: "/p"},
			Attachments: []company.AttachedFile{
				attachText("shot.png", "image/png", fakePNG), attachText("page.html", company.AttachedText, fakeMarkup),
				attachText("ä.svg", company.AttachedText, fakeVector),
			}})
	if err != nil {
		t.Fatal(err)
	}
	// A record of another program may name any type.
	d.state.Tasks[evs[0].Task].Attachments = append(
		d.state.Tasks[evs[0].Task].Attachments, attachText("odd.svg", "image/svg+xml", fakeVector).Attachment)
	d.before = d.View().Seq
	const path = "/api/v1/tasks/t1/attachment?name="
	for name, want := range map[string][2]string{
		"shot.png": {"image/png", fakePNG}, "page.html": {"text/plain; charset=utf-8", fakeMarkup},
		"%C3%A4.svg": {"text/plain; charset=utf-8", fakeVector}, "odd.svg": {"text/plain; charset=utf-8", fakeVector},
	} {
		resp, body := d.ask(t, "GET", path+name, fakeProgramToken, "")
		if resp.StatusCode != http.StatusOK || body != want[1] || resp.Header.Get("Content-Type") != want[0] {
			t.Errorf("%s: %d %s %q", name, resp.StatusCode, resp.Header.Get("Content-Type"), body)
		}
		if policy := resp.Header.Get("Content-Security-Policy"); resp.Header.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "sandbox") {
			t.Errorf("%s may be run: %v", name, resp.Header)
		}
		if !strings.HasPrefix(resp.Header.Get("Content-Disposition"), "attachment; filename") ||
			resp.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s may be shown as a page or kept: %v", name, resp.Header)
		}
		again, body := d.ask(t, "GET", path+name, fakeProgramToken, "", "If-None-Match", resp.Header.Get("ETag"))
		if again.StatusCode != http.StatusNotModified || body != "" {
			t.Errorf("%s is sent again: %d %q", name, again.StatusCode, body)
		}
	}
	for _, c := range []struct {
		method, path, token string
		status              int
	}{
		{"GET", path + "shot.png", "", 401}, {"GET", path + "shot.png", "guess", 401},
		{"POST", path + "shot.png", fakeProgramToken, 405},
		{"GET", path, fakeProgramToken, 404}, {"GET", path + "..%2F..%2Fshot.png", fakeProgramToken, 404},
		{"GET", path + "SHOT.png", fakeProgramToken, 404},
		{"GET", "/api/v1/tasks/t9/attachment?name=shot.png", fakeProgramToken, 404},
		{"GET", "/api/v1/tasks/t1-01/attachment?name=shot.png", fakeProgramToken, 400},
	} {
		if resp, body := d.ask(t, c.method, c.path, c.token, ""); resp.StatusCode != c.status ||
			!strings.Contains(body, `"code"`) {
			t.Errorf("%s %s: %d %s, want %d", c.method, c.path, resp.StatusCode, body, c.status)
		}
	}
	d.unchanged(t)
}
